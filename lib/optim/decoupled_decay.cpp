#include "optim/decoupled_decay.h"

namespace tpack {

DecoupledDecay::DecoupledDecay(double decay, const std::vector<Ref<VariablePattern>>& exclude)
    : decay_(decay) {
  for (const Ref<VariablePattern>& pattern : exclude) factors_.entries.push_back({pattern, 0});
}

Symbol DecoupledDecay::without_excluded(Builder& b, const FlatLayout& layout, Symbol decay) const {
  return factors_.empty() ? decay : b.mul(decay, factors_.of_elements(b, layout, "'exclude'"));
}

Symbol DecoupledDecay::of_parameters(Builder& b, const FlatLayout& layout, Symbol parameters) const {
  return without_excluded(b, layout, b.mul(parameters, decay_));
}

/// Not p * (1 - lr * decay): a float near 1 keeps few digits of a small decay.
Symbol DecoupledDecay::added_to(Builder& b, const FlatLayout& layout, Symbol parameters, Symbol learning_rate,
                                Symbol step) const {
  const Symbol decay = without_excluded(b, layout, b.mul(parameters, b.mul(learning_rate, decay_)));
  return decay_ == 0 ? step : b.add(decay, step);
}

}  // namespace tpack
