#include "optim/adam_rule.h"

#include "optim/moving_mean.h"

namespace tpack {

void check_betas(double beta1, double beta2, const std::string& owner) {
  if (beta1 == 1 || beta2 == 1) throw ConfigError(owner + ": 'beta1' and 'beta2' must be below 1");
}

AdamRule::AdamRule(const MomentsParams& params, bool amsgrad, const std::string& owner)
    : beta1_(params.beta1), beta2_(params.beta2), epsilon_(params.epsilon), amsgrad_(amsgrad) {
  check_betas(beta1_, beta2_, owner);
}

Symbol AdamRule::step(Builder& b, OptimizerState& state, Symbol gradient,
                      const Builder::Operand& rate) const {
  return step_along(b, state, moving_mean(b, state, "m", gradient, beta1_), gradient, rate);
}

Symbol AdamRule::step_along(Builder& b, OptimizerState& state, Symbol mean, Symbol gradient,
                            const Builder::Operand& rate) const {
  Symbol v = moving_mean(b, state, "v", b.square(gradient), beta2_);
  if (amsgrad_) {
    v = b.max(state.slot("largest_v"), v);
    state.assign_slot("largest_v", v);
  }
  const Symbol corrected_rate = b.div(rate, weight_so_far(b, state, "m_weight", beta1_));
  const Symbol correction = b.rsqrt(weight_so_far(b, state, "v_weight", beta2_));
  const Symbol root = b.add(b.mul(b.sqrt(v), correction), epsilon_);
  return b.div(b.mul(mean, corrected_rate), root);
}

}  // namespace tpack
