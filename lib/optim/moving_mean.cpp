#include "optim/moving_mean.h"

namespace tpack {

Symbol moved_mean(Builder& b, Symbol old, Symbol now, double decay) {
  return b.add(b.mul(old, decay), b.mul(now, 1 - decay));
}

Symbol moving_mean(Builder& b, OptimizerState& state, const std::string& slot, Symbol now, double decay) {
  const Symbol mean = moved_mean(b, state.slot(slot), now, decay);
  state.assign_slot(slot, mean);
  return mean;
}

Symbol weight_so_far(Builder& b, OptimizerState& state, const std::string& number, double decay) {
  const Symbol weight = b.add(b.mul(state.number(number), decay), 1 - decay);
  state.assign_number(number, weight);
  return weight;
}

}  // namespace tpack
