#include "callbacks/moving_mean.h"

#include <algorithm>

namespace tpack {

void MovingMean::save(State& state) const {
  state.put("decay", decay_);
  state.put("power", power_);
  state.put("means", means_);
}

void MovingMean::load(const State& state) {
  power_ = 1;
  std::fill(means_.begin(), means_.end(), 0);
  if (!state.has("means") || state.get<double>("decay") != decay_) return;
  auto means = state.get<std::vector<double>>("means");
  if (means.size() != means_.size()) return;
  means_ = std::move(means);
  power_ = state.get<double>("power");
}

}  // namespace tpack
