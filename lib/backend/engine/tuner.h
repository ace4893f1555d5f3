#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/engine/kernel.h"
#include "backend/engine/kernel_timer.h"
#include "backend/engine/timing_cache.h"

namespace tpack {

/// A node with the compared ways to run it.
struct TimingJob {
  std::vector<KernelRequest> ways;
  size_t preferred = 0;  // the fixed rules' choice
};

/// Measures the kernels of a library, which must outlive it, within a budget of seconds, those with the most
/// work first, and keeps the timings. The ways of a node run in turn, so that a busy moment of the machine
/// does not affect only one of them, and the best run of each counts; clearly slower ways are dropped.
/// Threads: one at a time.
class Tuner {
 public:
  struct Options {
    std::string cache_dir = {};  // empty: timings are kept in memory only
    Timings timings = Timings::kMeasured;
    double budget_s = DeviceOptions{}.timing_s;  // of all calls together
    Memory* memory = &host_memory();             // in which kernels work
  };
  Tuner(const KernelLibrary& library, const Options& options);
  /// With different kernels and a different clock (seconds), for tests.
  Tuner(const KernelLibrary& library, const Options& options, PrepareTimed prepare,
        std::function<double()> now);

  /// The timings of each job's ways; none for a job that was not measured: the fixed rules decide. Timings
  /// are written to the file within about a second, so that an interrupted process loses little.
  /// `before_timing` is called once before any measurement. Errors: those of `before_timing`.
  std::vector<std::vector<Measurement>> measure(
      const std::vector<TimingJob>& jobs, KernelQueue& queue,
      const std::function<void()>& before_timing = [] {});

 private:
  struct Work;
  class Progress;
  bool knows(const TimingJob& job, const KernelQueue& queue) const;
  std::vector<Work> work_of(const std::vector<TimingJob>& jobs, const KernelQueue& queue) const;
  void time(const std::vector<Work>& work, KernelQueue& queue);
  bool time_one(const Work& work, KernelQueue& queue, const PrepareTimed& prepare);
  double left_s() const { return budget_s_ - spent_s_ - (now_() - began_s_); }

  const KernelLibrary& library_;
  Memory& memory_;
  Timings timings_;
  double budget_s_;
  PrepareTimed prepare_;  // null: real kernels
  std::function<double()> now_;
  TimingCache cache_;
  double spent_s_ = 0;      // of the budget, by earlier calls
  double began_s_ = 0;      // the current call
  double flops_per_s_ = 0;  // of the last measured kernel
};

/// The times with which the measured ways to run a node enter a comparison. `preferred` is the heuristic's
/// choice: another one must be 10 % better (25 % if one of the two was disturbed), because less than that is
/// noise, and may not need more scratch memory (otherwise its time is infinite), so that the memory predicted
/// without measuring holds. If `preferred` is not available itself, there is no such limit.
std::vector<double> comparable_seconds(const std::vector<Measurement>& measured, size_t preferred);

}  // namespace tpack
