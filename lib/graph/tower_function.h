#pragma once

#include <functional>
#include <map>
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

/// What a term of a cost compares for each sample: reports say by it how well each class and each sample
/// does.
struct Judgement {
  enum class Kind : uint8_t {
    kClass,    // scores [N, C] and the number of the class, integers [N]; of pixels [N, C, H, W], [N, H, W]
    kYesOrNo,  // the logit of a yes for each of several labels, [N, ...], and 0 or 1 in the same order
    kNumbers,  // [N, ...] and as many
  };

  Kind kind = Kind::kNumbers;
  Symbol predictions;
  Symbol targets;
  std::string targets_name;            // of the input or output
  std::optional<double> ignored = {};  // a target that does not count
  Symbol losses = {};                  // of the term, [N, ...], before sample weights
  std::string term = {};               // of the cost
  double threshold = 0.5;              // a probability this high means yes, or the second of two classes
};

struct TowerResult {
  std::map<std::string, Symbol> costs = {};    // what can be minimized, by name
  std::map<std::string, Symbol> counted = {};  // [], by cost: the part of its losses that count; none: all
  std::vector<Statistic> statistics = {};      // costs first
  std::map<std::string, Symbol> outputs = {};  // what can be fetched by name
  std::vector<Judgement> judgements = {};      // of the costs, in their order; in inference only
};

/// Emits a network for one batch: called once for each program and input signature, it must declare the same
/// variables each time. A model of a config is one; so is any class that builds a graph by hand. Threads:
/// const.
class TowerFunction {
 public:
  virtual ~TowerFunction() = default;
  virtual const std::vector<TowerInput>& inputs() const = 0;
  /// Where it is described, for messages; unknown for one that is written in C++.
  virtual Position origin() const { return {}; }
  /// `in`: by input name, images in logical order [N, C, H, W]. Errors: ConfigError, ShapeError with
  /// positions.
  virtual TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;
};

/// What each input is fed for a batch of `batch` samples.
std::vector<TensorSpec> batch_specs(const TowerFunction& tower, int64_t batch);

/// Declares the inputs in a graph with the specs that are fed, builds the tower and fetches every statistic
/// for which `wanted` is true (all if it is null) as "NAME/sum" and "NAME/weight", and the outputs in
/// `fetches` under their names. Errors: ConfigError for a fetch that the tower does not have.
TowerResult build_tower(Builder& b, const TowerFunction& tower, const std::vector<TensorSpec>& fed,
                        const std::vector<std::string>& fetches,
                        const std::function<bool(const Statistic&)>& wanted = nullptr);

}  // namespace tpack
