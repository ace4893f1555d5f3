#include "optim/adam_rule.h"

namespace tpack {
namespace {

Symbol decayed(Builder& b, Symbol old, Symbol now, double beta) {
  return b.add(b.mul(old, beta), b.mul(now, 1 - beta));
}

/// The weight of all gradients so far in a mean, 1 - beta^step: decayed like the mean, because 1 minus a
/// power near 1 has only four correct digits in single precision.
Symbol weight_so_far(Builder& b, OptimizerState& state, const std::string& name, double beta) {
  const Symbol now = b.add(b.mul(state.number(name), beta), 1 - beta);
  state.assign_number(name, now);
  return now;
}

}  // namespace

AdamRule::AdamRule(const AdamParams& params, const std::string& owner)
    : beta1_(params.beta1), beta2_(params.beta2), epsilon_(params.epsilon) {
  if (beta1_ == 1 || beta2_ == 1) throw ConfigError(owner + ": 'beta1' and 'beta2' must be below 1");
}

Symbol AdamRule::step(Builder& b, OptimizerState& state, Symbol gradient, Symbol learning_rate) const {
  const Symbol m = decayed(b, state.slot("m"), gradient, beta1_);
  const Symbol v = decayed(b, state.slot("v"), b.square(gradient), beta2_);
  state.assign_slot("m", m);
  state.assign_slot("v", v);
  const Symbol rate = b.div(learning_rate, weight_so_far(b, state, "m_weight", beta1_));
  const Symbol correction = b.rsqrt(weight_so_far(b, state, "v_weight", beta2_));
  const Symbol root = b.add(b.mul(b.sqrt(v), correction), epsilon_);
  return b.div(b.mul(m, rate), root);
}

}  // namespace tpack
