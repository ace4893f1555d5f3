#include "callbacks/epoch_times.h"
#include "core/clock.h"
#include "core/text.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct EstimatedTimeLeftParams {
  int64_t last_k_epochs = 5;
  bool median = true;
};

/// Source: tensorpack callbacks/misc.py, EstimatedTimeLeft.
class EstimatedTimeLeft final : public Callback {
 public:
  using Params = EstimatedTimeLeftParams;
  static Schema<Params> schema() {
    return Schema<Params>("Logs after each epoch how long the rest of the run will take.")
        .example("EstimatedTimeLeft: {last_k_epochs: 10}")
        .field("last_k_epochs", &Params::last_k_epochs, between(1, 1000),
               "number of last epochs to estimate from, with their callbacks")
        .field("median", &Params::median, "use the median of the durations instead of their mean");
  }
  explicit EstimatedTimeLeft(Params p)
      : times_(static_cast<size_t>(p.last_k_epochs),
               p.median ? EpochTimes::Average::kMedian : EpochTimes::Average::kMean) {}

  void before_train(Run& run) override { start_watch(run); }
  /// The time between two triggers may differ from an epoch.
  void trigger(Run& run) override {
    const double passed = position(run) - watched_from_;
    if (passed <= 0) return;
    times_.add(watch_.seconds() / passed);
    start_watch(run);
    const double left = static_cast<double>(run.length().max_epoch - run.epoch()) + left_of_epoch(run);
    if (left > 0) log::info("estimated time left: " + human_duration(left * times_.average()));
  }

 private:
  /// In epochs, from somewhere on.
  static double position(const Run& run) {
    const int64_t steps = run.length().steps_per_epoch;
    return steps == 0 ? static_cast<double>(run.epoch())
                      : static_cast<double>(run.global_step()) / static_cast<double>(steps);
  }
  static double left_of_epoch(const Run& run) {
    const int64_t steps = run.length().steps_per_epoch;
    return steps == 0 ? 0 : 1 - static_cast<double>(run.local_step() + 1) / static_cast<double>(steps);
  }
  void start_watch(const Run& run) {
    watch_.reset();
    watched_from_ = position(run);
  }

  EpochTimes times_;
  Stopwatch watch_;
  double watched_from_ = 0;  // position
};

TPACK_REGISTER(Callback, EstimatedTimeLeft, "EstimatedTimeLeft");

}  // namespace
}  // namespace tpack
