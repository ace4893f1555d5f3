#include "callbacks/epoch_times.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
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
               "last epochs whose durations count, callbacks included")
        .field("median", &Params::median, "use the median of the durations instead of their mean");
  }
  explicit EstimatedTimeLeft(Params p)
      : times_(static_cast<size_t>(p.last_k_epochs),
               p.median ? EpochTimes::Average::kMedian : EpochTimes::Average::kMean) {}

  void before_train(Run& /*run*/) override { watch_.reset(); }
  void trigger(Run& run) override {
    times_.add(watch_.seconds());
    watch_.reset();
    const int64_t left = run.length().max_epoch - run.epoch();
    if (left > 0)
      log::info("estimated time left: " + human_duration(static_cast<double>(left) * times_.average()));
  }

 private:
  EpochTimes times_;
  Stopwatch watch_;
};

TPACK_REGISTER(Callback, EstimatedTimeLeft, "EstimatedTimeLeft");

}  // namespace
}  // namespace tpack
