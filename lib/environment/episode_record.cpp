#include "environment/episode_record.h"

#include <numeric>

namespace tpack {

void EpisodeRecord::add(double reward, int64_t length) {
  const size_t place = static_cast<size_t>(episodes_++) % kWindow;
  if (place >= rewards_.size()) {
    rewards_.emplace_back();
    lengths_.emplace_back();
  }
  rewards_[place] = reward;
  lengths_[place] = static_cast<double>(length);
}

std::optional<double> EpisodeRecord::mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

State EpisodeRecord::save() const {
  State state;
  state.put("rewards", rewards_);
  state.put("lengths", lengths_);
  state.put("episodes", episodes_);
  return state;
}

void EpisodeRecord::load(const State& state) {
  rewards_ = state.get<std::vector<double>>("rewards");
  lengths_ = state.get<std::vector<double>>("lengths");
  episodes_ = state.get<int64_t>("episodes");
}

}  // namespace tpack
