#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "optim/optimizers.h"

namespace tpack {

/// The fields of AdamParams, for the schema of an optimizer whose Params derive from it.
template <std::derived_from<AdamParams> P>
Schema<P> adam_schema(std::string summary) {
  return optimizer_schema<P>(std::move(summary))
      .field("beta1", static_cast<double P::*>(&P::beta1), between(0, 1),
             "decay of the mean of gradients; below 1")
      .field("beta2", static_cast<double P::*>(&P::beta2), between(0, 1),
             "decay of the mean of squares; below 1")
      .field("epsilon", static_cast<double P::*>(&P::epsilon), above(0), "added to the denominator");
}

/// The step of Adam and AdamW.
class AdamRule {
 public:
  /// `owner`: "optimizer Adam". Errors: ConfigError.
  AdamRule(const AdamParams& params, const std::string& owner);

  /// lr * m' / (sqrt(v') + epsilon), [n]: the difference to subtract from the parameters.
  Symbol step(Builder& b, OptimizerState& state, Symbol gradient, Symbol learning_rate) const;

 private:
  double beta1_;
  double beta2_;
  double epsilon_;
};

}  // namespace tpack
