#include "callbacks/moving_mean.h"

#include <algorithm>

namespace tpack {

void MovingMean::save(State& state) const {
  state.put("decay", decay_);
  state.put("powers", powers_);
  state.put("means", means_);
}

void MovingMean::load(const State& state) {
  std::fill(powers_.begin(), powers_.end(), 1);
  std::fill(means_.begin(), means_.end(), 0);
  if (!state.has("means") || state.get<double>("decay") != decay_) return;
  auto means = state.get<std::vector<double>>("means");
  auto powers = state.get<std::vector<double>>("powers", {});
  if (means.size() != means_.size() || powers.size() != means_.size()) return;
  means_ = std::move(means);
  powers_ = std::move(powers);
}

}  // namespace tpack
