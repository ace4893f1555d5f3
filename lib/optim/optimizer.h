#pragma once

#include <string>
#include <vector>

#include "core/registry.h"
#include "graph/builder.h"

namespace tpack {

/// Changes the gradient before an optimizer uses it.
class GradientProcessor {
 public:
  static constexpr const char* kKind = "gradient processor";
  virtual ~GradientProcessor() = default;
  /// `gradient`: the flat block [n] of all gradients, laid out as `layout` says; padding is zero and must
  /// stay zero.
  virtual Symbol process(Builder& b, Symbol gradient, const FlatLayout& layout) const = 0;
};

/// What every optimizer has.
struct OptimizerParams {
  double learning_rate = 0.01;
  std::vector<Part<GradientProcessor>> gradient;
};

/// The update rule: emits the program that brings the flat block of parameters from one step to the next.
/// Pointwise ops on flat blocks become one fused kernel over all variables.
/// Threads: const.
class Optimizer {
 public:
  static constexpr const char* kKind = "optimizer";
  virtual ~Optimizer() = default;

  /// Emits the whole update: gradient processors, then `apply`. `scale` is multiplied into the gradient first
  /// (one over the number of replicas that were summed).
  void build(Builder& b, const FlatLayout& layout, double scale) const;

 protected:
  explicit Optimizer(OptimizerParams common) : common_(std::move(common)) {}
  /// New parameters from old ones; slots are read and assigned by the way.
  virtual Symbol apply(Builder& b, Symbol parameters, Symbol gradient, Symbol learning_rate) const = 0;

  /// A slot: one more flat block [n], zeros at first.
  static Symbol slot(Builder& b, const std::string& name, const Shape& shape);
  static void assign_slot(Builder& b, const std::string& name, Symbol value) {
    b.assign(flat_slot(name), value);
  }
  /// A number that belongs to the optimizer's state, zero at first.
  static Symbol number(Builder& b, const std::string& name);

 private:
  OptimizerParams common_;
};

/// Name of the scalar variable that the host may set between steps.
inline constexpr const char* kLearningRate = "learning_rate";

/// The fields of OptimizerParams, for the schema of an optimizer whose Params derive from it.
template <class P>
Schema<P> optimizer_schema(std::string summary) {
  return Schema<P>(std::move(summary))
      .field("learning_rate", static_cast<double P::*>(&P::learning_rate), at_least(0), "step size")
      .field("gradient", static_cast<std::vector<Part<GradientProcessor>> P::*>(&P::gradient),
             "what is done with the gradient first");
}

}  // namespace tpack
