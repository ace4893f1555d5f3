#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "optim/optimizers.h"

namespace tpack {

/// The fields of MomentsParams, for the schema of an optimizer whose Params derive from it.
template <std::derived_from<MomentsParams> P>
Schema<P> moments_schema(std::string summary) {
  return optimizer_schema<P>(std::move(summary))
      .field("beta1", static_cast<double P::*>(&P::beta1), between(0, 1),
             "decay of the mean of gradients; below 1")
      .field("beta2", static_cast<double P::*>(&P::beta2), between(0, 1),
             "decay of the mean of squares; below 1")
      .field("epsilon", static_cast<double P::*>(&P::epsilon), above(0), "added to the denominator");
}

/// The fields of AdamParams.
template <std::derived_from<AdamParams> P>
Schema<P> adam_schema(std::string summary) {
  return moments_schema<P>(std::move(summary))
      .field(
          "amsgrad", static_cast<bool P::*>(&P::amsgrad),
          "divide by the largest mean of squares so far, so that the step of a parameter does not grow when "
          "its gradients become rare (Reddi et al. 2018)");
}

/// Errors: ConfigError, beginning with `owner` ("optimizer Adam"), for means that forget nothing.
void check_betas(double beta1, double beta2, const std::string& owner);

/// The step of Adam, AdamW and LAMB, and of what Muon trains as AdamW does.
class AdamRule {
 public:
  /// `owner`: "optimizer Adam". Errors: ConfigError.
  AdamRule(const MomentsParams& params, bool amsgrad, const std::string& owner);

  /// rate * m' / (sqrt(v') + epsilon), [n].
  Symbol step(Builder& b, OptimizerState& state, Symbol gradient, const Builder::Operand& rate) const;
  /// The same with a mean m that its caller moves, by beta1.
  Symbol step_along(Builder& b, OptimizerState& state, Symbol mean, Symbol gradient,
                    const Builder::Operand& rate) const;

 private:
  double beta1_;
  double beta2_;
  double epsilon_;
  bool amsgrad_;
};

}  // namespace tpack
