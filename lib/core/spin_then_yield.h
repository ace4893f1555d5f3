#pragma once

#include <chrono>

namespace tpack {

/// Waiting between checks of a condition that usually becomes true within microseconds: for 50 microseconds
/// the thread only spins, then it yields its processor to other threads between checks, and after some
/// milliseconds it should sleep, so that it takes no time from other processes.
///
///   for (SpinThenYield wait; !ready();) {
///     if (!wait.next()) return sleep_until_ready();
///   }
class SpinThenYield {
 public:
  static constexpr double kMaxS = 3e-3;

  /// False if it is time to sleep.
  bool next();

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  int looks_ = 0;
};

}  // namespace tpack
