#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/state.h"

namespace tpack {

/// Rewards and lengths of the last 100 finished episodes. A value. Threads: one at a time.
class EpisodeRecord {
 public:
  static constexpr size_t kWindow = 100;

  void add(double reward, int64_t length);
  int64_t episodes() const { return episodes_; }
  /// Means over the window; nothing before the first episode has ended.
  std::optional<double> mean_reward() const { return mean(rewards_); }
  std::optional<double> mean_length() const { return mean(lengths_); }

  State save() const;
  void load(const State& state);

 private:
  static std::optional<double> mean(const std::vector<double>& values);

  std::vector<double> rewards_;  // the newest at (episodes_ - 1) mod kWindow
  std::vector<double> lengths_;
  int64_t episodes_ = 0;
};

}  // namespace tpack
