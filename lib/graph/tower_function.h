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

/// A value that a tower function is fed, and the component of the datapoint that it comes from.
struct TowerInput {
  std::string name;
  std::string component;    // of the datapoint
  TensorSpec spec;          // of one sample where `batched`
  bool batched = true;      // false: data without a batch axis
  std::string layout = {};  // order of an image's axes in the data: "HWC", "CHW"; "" for the rest
  Position position = {};

  /// The spec of what is fed for a batch of `batch` samples.
  TensorSpec batch_spec(int64_t batch) const {
    return {spec.dtype, batched ? spec.shape.prepend(batch) : spec.shape};
  }
};

/// Name of the cost of a tower that has one.
inline constexpr const char* kCost = "cost";

/// Classes that predictions tell.
struct TargetClasses {
  int64_t count = 0;
  /// true: each sample is of one class; false: of any number of them, as a set of labels.
  bool exclusive = true;
  /// true: predictions are logits [N, ...], targets 0 or 1 in the same order: one for each label of a set, or
  /// one for the second of two exclusive classes. false: scores [N, C] and the number of the class, integers
  /// [N]; of pixels [N, C, H, W] and [N, H, W].
  bool by_logit = false;

  /// Of scores of such a shape, and of logits.
  static TargetClasses of_scores(const Shape& scores) { return {.count = scores.rank() > 1 ? scores[1] : 0}; }
  static TargetClasses of_logits(const Shape& logits) {
    const bool is_one = logits.rank() == 0 || logits.elements() == logits[0];
    return {.count = is_one ? 2 : logits.elements() / logits[0], .exclusive = is_one, .by_logit = true};
  }
};

/// What a term of a cost compares for each sample: reports on classes and samples are made of it.
struct PredictionTarget {
  /// Nothing: targets are numbers, as many as predictions, [N, ...].
  std::optional<TargetClasses> classes = {};
  Symbol predictions;
  Symbol targets;
  std::string targets_name;            // of the input or output
  std::optional<double> ignored = {};  // a target that does not count
  Symbol losses = {};                  // of the term, [N, ...], before sample weights
  std::string term = {};               // of the cost
  double threshold =
      0.5;  // a label holds, or the second of two classes is predicted, from this probability on

  bool has_scores() const { return classes && !classes->by_logit; }
  bool has_logits() const { return classes && classes->by_logit; }
};

struct TowerResult {
  std::map<std::string, Symbol> costs = {};    // what can be minimized, by name
  std::map<std::string, Symbol> counted = {};  // [], by cost: the part of its losses that count; none: all
  std::vector<Statistic> statistics = {};      // costs first
  std::map<std::string, Symbol> outputs = {};  // what can be fetched by name
  std::vector<PredictionTarget> targets = {};  // of the costs, in their order; in inference only
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
  /// Where it is described, for messages; unknown for one that is written in C++.
  virtual Position origin() const { return {}; }
  /// `in`: by input name, images in logical order [N, C, H, W]. Errors: ConfigError, ShapeError with
  /// positions.
  virtual TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;

  /// The tower as it is built for these options and inputs; the first call builds it. Errors: as `build`.
  /// Threads: any.
  const TowerDescription& description(Builder::Options options, const Signature& fed) const;
  /// For inference of one sample in float32.
  const TowerDescription& description() const;

 private:
  mutable std::mutex describing_;
  mutable std::vector<std::unique_ptr<const TowerDescription>> descriptions_;
};

/// What each input is fed for a batch of `batch` samples.
Signature batch_specs(const TowerFunction& tower, int64_t batch);

/// Declares the inputs in a graph with the specs that are fed, builds the tower and fetches every statistic
/// for which `wanted` is true (all if it is null) as "NAME/sum" and "NAME/weight", and the outputs in
/// `fetches` under their names. Errors: ConfigError for a fetch that the tower does not have.
TowerResult build_tower(Builder& b, const TowerFunction& tower, const Signature& fed,
                        const std::vector<std::string>& fetches,
                        const std::function<bool(const Statistic&)>& wanted = nullptr);

}  // namespace tpack
