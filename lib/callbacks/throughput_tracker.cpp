#include "core/clock.h"
#include "train/callback.h"

namespace tpack {
namespace {

constexpr const char* kSteps = "steps_per_s";
constexpr const char* kSamples = "samples_per_s";
constexpr const char* kWait = "data_wait_time_share";
constexpr const char* kFill = "input_queue_fill";

/// Time outside of epochs (callbacks that are triggered) does not count.
/// Source: tensorpack callbacks/prof.py, ThroughputTracker.
class ThroughputTracker final : public Callback {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Reports steps_per_s, samples_per_s of all replicas, and data_wait_time_share, the share of the time "
        "spent waiting for data (0 to 1); with the input Queue also input_queue_fill, the batches that are "
        "ready "
        "when a step takes one: a moving average with a decay of 0.5, near 0 if the data are too slow.");
  }
  explicit ThroughputTracker(Params /*p*/) : Callback({.ranks = Ranks::kAll}) {}

  void setup(Setup& setup) override {
    for (const char* name : {kSteps, kSamples, kWait, kFill}) setup.provides(name);
  }
  void before_epoch(Run& run) override {
    watch_.reset();
    step_ = run.global_step();
    samples_before_ = run.part<StepData>().samples();
    waited_ = run.part<StepData>().waited_s();
  }
  void after_epoch(Run& run) override {
    seconds_ += watch_.seconds();
    steps_ += run.global_step() - step_;
    samples_ += run.part<StepData>().samples() - samples_before_;
    waiting_ += run.part<StepData>().waited_s() - waited_;
  }
  void trigger(Run& run) override {
    if (steps_ > 0 && seconds_ > 0) put(run);
    seconds_ = 0;
    waiting_ = 0;
    steps_ = 0;
    samples_ = 0;
  }

 private:
  void put(Run& run) const {
    const StepSize size = run.part<StepData>().step_size();
    run.monitors().put_scalar(kSteps, static_cast<double>(steps_) / seconds_);
    if (samples_ == 0) return;
    run.monitors().put_scalar(kSamples, static_cast<double>(samples_ * size.ranks) / seconds_);
    run.monitors().put_scalar(kWait, waiting_ / (seconds_ * static_cast<double>(size.towers)));
    if (const auto queue = run.part<StepData>().input_queue())
      run.monitors().put_scalar(kFill, queue->stats.fill);
  }

  Stopwatch watch_;   // since the epoch began
  int64_t step_ = 0;  // when the epoch began
  int64_t samples_before_ = 0;
  double waited_ = 0;   // when the epoch began
  double seconds_ = 0;  // in epochs since the last trigger, and so the next three
  double waiting_ = 0;
  int64_t steps_ = 0;
  int64_t samples_ = 0;
};

TPACK_REGISTER(Callback, ThroughputTracker, "ThroughputTracker");

}  // namespace
}  // namespace tpack
