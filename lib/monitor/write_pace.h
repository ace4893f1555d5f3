#pragma once

#include <cstddef>

#include "core/clock.h"

namespace tpack {

/// Decides when to rewrite a file after an epoch: every time while it is small, later only as often as takes
/// a twentieth of the time, even for very short epochs. Threads: one.
class WritePace {
 public:
  bool is_due() const { return bytes_ < kSmall || since_end_.seconds() >= kRest * duration_s_; }
  /// Runs `write`, which returns the bytes of the file.
  template <class F>
  void run(F&& write) {
    const Stopwatch watch;
    bytes_ = write();
    duration_s_ = watch.seconds();
    since_end_.reset();
  }

 private:
  static constexpr size_t kSmall = size_t{1} << 16U;
  static constexpr double kRest = 19;

  size_t bytes_ = 0;
  double duration_s_ = 0;
  Stopwatch since_end_;
};

}  // namespace tpack
