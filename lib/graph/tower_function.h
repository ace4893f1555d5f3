#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/statistic.h"

namespace tpack {

/// An input of a tower function, and its component of the datapoint.
struct TowerInput {
  std::string name;
  std::string component;    // of the datapoint
  TensorSpec spec;          // of one sample where `batched`
  bool batched = true;      // false: data without a batch axis
  std::string layout = {};  // order of an image's axes in the data: "HWC", "CHW"; "" for the rest
  Position position = {};

  /// The spec of the input for a batch of `batch` samples.
  TensorSpec batch_spec(int64_t batch) const {
    return {spec.dtype, batched ? spec.shape.prepend(batch) : spec.shape};
  }
};

/// Name of the cost of a tower with a single cost.
inline constexpr const char* kCost = "cost";

/// The classes of predictions.
struct TargetClasses {
  int64_t count = 0;
  /// true: each sample has one class; false: any number of them, a set of labels.
  bool exclusive = true;
  /// true: predictions are logits [N, ...], targets 0 or 1 in the same order: one for each label of a set, or
  /// one for the second of two exclusive classes. false: scores [N, C] and class numbers, integers [N]; for
  /// pixels [N, C, H, W] and [N, H, W].
  bool by_logit = false;

  /// For scores of such a shape, and for logits.
  static TargetClasses of_scores(const Shape& scores) { return {.count = scores.rank() > 1 ? scores[1] : 0}; }
  static TargetClasses of_logits(const Shape& logits) {
    const bool is_one = logits.rank() == 0 || logits.elements() == logits[0];
    return {.count = is_one ? 2 : logits.elements() / logits[0], .exclusive = is_one, .by_logit = true};
  }
};

/// The predictions and targets of a term of a cost for each sample, for reports on classes and samples.
struct PredictionTarget {
  /// Empty: targets are numbers, in the shape of predictions, [N, ...].
  std::optional<TargetClasses> classes = {};
  Symbol predictions;
  Symbol targets;
  std::string targets_name;            // of the input or output
  std::optional<double> ignored = {};  // an ignored target
  Symbol losses = {};                  // of the term, [N, ...], before sample weights
  std::string term = {};               // of the cost
  double threshold = 0.5;              // minimum probability to predict a label, or the second of two classes

  bool has_scores() const { return classes && !classes->by_logit; }
  bool has_logits() const { return classes && classes->by_logit; }
};

struct TowerResult {
  std::map<std::string, Symbol> costs = {};    // costs that can be minimized, by name
  std::map<std::string, Symbol> counted = {};  // [], by cost: the share of its losses that count; none: all
  std::vector<Statistic> statistics = {};      // costs first
  std::map<std::string, Symbol> outputs = {};  // values that can be fetched by name
  std::vector<PredictionTarget> targets = {};  // of the costs, in their order; only in inference
};

class TowerDescription;

/// Emits a network for one batch: called once for each program and input signature, it must declare the same
/// variables each time. A model of a config is one; so is any class that builds a graph by hand. Threads:
/// const.
class TowerFunction {
 public:
  TowerFunction();
  virtual ~TowerFunction();
  TowerFunction(const TowerFunction&) = delete;
  TowerFunction& operator=(const TowerFunction&) = delete;
  virtual const std::vector<TowerInput>& inputs() const = 0;
  /// Its position in a config, for messages; unknown for a tower in C++.
  virtual Position origin() const { return {}; }
  /// `in`: by input name, images in logical order [N, C, H, W]. Errors: ConfigError, ShapeError with
  /// positions.
  virtual TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;

  /// The tower built for these options and inputs; the first call builds it. Errors: as `build`. Threads:
  /// any.
  const TowerDescription& description(Builder::Options options, const Signature& fed) const;
  /// For inference of one sample in float32.
  const TowerDescription& description() const;

 private:
  mutable std::mutex describing_;
  mutable std::vector<std::unique_ptr<const TowerDescription>> descriptions_;
};

/// The specs of the inputs for a batch of `batch` samples.
Signature batch_specs(const TowerFunction& tower, int64_t batch);

/// Declares the inputs in a graph with the given specs, builds the tower and fetches every statistic for
/// which `wanted` is true (all if it is null) as "NAME/sum" and "NAME/weight", and the outputs in `fetches`
/// under their names. Errors: ConfigError for a fetch that the tower does not have.
TowerResult build_tower(Builder& b, const TowerFunction& tower, const Signature& fed,
                        const std::vector<std::string>& fetches,
                        const std::function<bool(const Statistic&)>& wanted = nullptr);

}  // namespace tpack
