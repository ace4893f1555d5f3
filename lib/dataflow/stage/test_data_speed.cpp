#include <atomic>
#include <mutex>
#include <optional>

#include "core/clock.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/stage.h"
#include "system/log.h"

namespace tpack {
namespace {

struct TestDataSpeedParams {
  int64_t size = 5000;
  int64_t warmup = 0;
};

/// Counts the items that readers take, with any number of threads, and logs their rate once.
class MeasuredFlow final : public WrappedFlow {
 public:
  MeasuredFlow(FlowPtr up, const TestDataSpeedParams& p, StageContext context)
      : WrappedFlow(std::move(up)),
        p_(p),
        context_(std::move(context)),
        has_batches_(batched_of(this->up()) != nullptr) {}

  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    start();
    const bool is_there = up().get(pass, place, out);
    if (is_there) count(out);
    return is_there;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    return std::make_unique<MeasuringCursor>(*this, pass);
  }

 private:
  class MeasuringCursor final : public Cursor {
   public:
    MeasuringCursor(const MeasuredFlow& flow, const PassKey& pass) : flow_(flow), up_(flow.up().open(pass)) {}
    bool next(Datapoint& out) override {
      flow_.start();
      const bool is_there = up_->next(out);
      if (is_there) flow_.count(out);
      return is_there;
    }
    int64_t skip(int64_t count) override { return up_->skip(count); }

   private:
    const MeasuredFlow& flow_;
    std::unique_ptr<Cursor> up_;
  };

  void start() const {
    if (state_ != State::kNew) return;
    const std::lock_guard lock(counting_);
    if (state_ == State::kNew) begin();
  }
  void begin() const {
    state_ = State::kCounting;
    time_.emplace();
  }
  void count(Datapoint& item) const {
    if (state_ == State::kDone) return;
    const std::lock_guard lock(counting_);
    if (state_ == State::kDone) return;
    count_ += has_batches_ ? item.to_tensor(0).shape()[0] : 1;
    if (!is_warm_ && count_ >= p_.warmup) {
      is_warm_ = true;
      measured_from_ = count_;
      if (p_.warmup > 0) begin();
    }
    if (p_.warmup == 0) measured_from_ = 0;
    const int64_t measured = count_ - measured_from_;
    if (!is_warm_ || measured < p_.size) return;
    state_ = State::kDone;
    const double seconds = std::max(time_->seconds(), 1e-9);
    log::info(context_.position.str() + ": " + context_.name + ": " + with_thousands(measured) +
              " samples in " + short_text(seconds) + " s, " +
              with_thousands(static_cast<int64_t>(static_cast<double>(measured) / seconds)) + " samples/s");
  }

  enum class State : uint8_t { kNew, kCounting, kDone };

  TestDataSpeedParams p_;
  StageContext context_;
  bool has_batches_;
  mutable std::atomic<State> state_ = State::kNew;
  mutable std::mutex counting_;
  mutable std::optional<Stopwatch> time_;  // since the first sample, or since the warm-up
  mutable int64_t count_ = 0;              // samples
  mutable int64_t measured_from_ = 0;
  mutable bool is_warm_ = false;
};

/// Source: tensorpack dataflow/common.py, TestDataSpeed; unlike there, it measures while others read.
class TestDataSpeed final : public Stage {
 public:
  using Params = TestDataSpeedParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Logs once how many samples per second pass this point of the flow, and changes nothing. It "
               "counts what its readers take, so a slow reader lowers the number; `tpack bench` measures a "
               "flow "
               "alone.")
        .example("TestDataSpeed: {size: 5000, warmup: 100}")
        .field("size", &Params::size, between(1, 1e12), "samples to measure")
        .shorthand()
        .field("warmup", &Params::warmup, between(0, 1e12), "samples before the measurement begins");
  }
  explicit TestDataSpeed(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return std::make_shared<MeasuredFlow>(std::move(up), p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, TestDataSpeed, "TestDataSpeed");

}  // namespace
}  // namespace tpack
