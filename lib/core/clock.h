#pragma once

#include <chrono>
#include <string>

namespace tpack {

/// Measures seconds since construction or reset; monotonic.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void reset() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Seconds since a fixed time of the process; monotonic.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Seconds since 1970 (UTC).
double wall_time_s();
/// "20261120-235959" in local time, for file names.
std::string time_stamp();

}  // namespace tpack
