#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "backend/cpu/kernel.h"
#include "backend/device.h"

namespace tpack::cpu {

/// Times kernels on random data, each shape once. Timings are kept in memory and, if a folder is given, in a
/// file per CPU. Timings of another version of tpack or oneDNN are not used. Threads: one at a time; several
/// processes may share the file (it is replaced as a whole).
class Tuner {
 public:
  struct Measurement {
    double seconds = 0;  // of one run; infinite if the choice is not available
    uint64_t scratch_bytes = 0;
    bool disturbed = false;  // other processes used the processors all the time: do not compare or keep it
  };
  using Time = std::function<Measurement(const KernelRequest&, Team& team)>;

  explicit Tuner(const std::string& cache_dir, Timings timings = Timings::kMeasured);
  /// With another function that times kernels, for tests.
  Tuner(const std::string& cache_dir, Time time);
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// Runs on `team`. If only known timings are used, an unknown one is `disturbed`.
  Measurement measure(const KernelRequest& request, Team& team);

 private:
  void load();
  void save() const;

  Timings timings_ = Timings::kMeasured;
  Time time_;
  std::string path_;
  std::map<std::string, Measurement> known_;
  bool changed_ = false;
};

/// One timed run of a kernel; `interrupted` if one of its threads lost its processor meanwhile.
struct TimedRun {
  double seconds = 0;
  bool interrupted = false;
};
/// The fastest of the undisturbed runs; if there are fewer than two, the fastest of all, marked as disturbed.
Tuner::Measurement fastest(std::span<const TimedRun> runs);

/// "GenuineIntel 6/143/8 AVX3_SPR": what measured choices and plans are valid for.
std::string cpu_name();

}  // namespace tpack::cpu
