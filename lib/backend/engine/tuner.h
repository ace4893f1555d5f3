#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/engine/kernel.h"
#include "backend/engine/kernel_timer.h"
#include "backend/engine/timing_cache.h"

namespace tpack {

/// A node with the ways to run it that are compared.
struct TimingJob {
  std::vector<KernelRequest> ways;
  size_t preferred = 0;  // the fixed rules' choice
};

/// Times the kernels of a library, which must outlive it, within a budget of seconds, those with the most
/// work first, and keeps the timings. The ways of a node run in turn, so that a moment in which the machine
/// was busy spoils none of them, and the best run of each counts; a way that is clearly slower is dropped.
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
  /// With other kernels and another clock (seconds), for tests.
  Tuner(const KernelLibrary& library, const Options& options, PrepareTimed prepare,
        std::function<double()> now);

  /// The timings of each job's ways; none for a job that was not timed: the fixed rules decide. Timings are
  /// in the file within about a second after they were taken, so that an interrupted process loses little.
  /// `before_timing` is called once before anything is timed. Errors: what it throws.
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
  double began_s_ = 0;      // the call that times now
  double flops_per_s_ = 0;  // of the kernel that was timed last
};

/// The times with which the measured ways to run a node enter a comparison. `preferred` is the heuristic's
/// choice: another one must be 10 % better (25 % if one of the two was disturbed), because less than that is
/// noise, and may not need more scratch memory (otherwise its time is infinite), so that the memory predicted
/// without measuring holds. If `preferred` is not available itself, there is no such limit.
std::vector<double> comparable_seconds(const std::vector<Measurement>& measured, size_t preferred);

}  // namespace tpack
