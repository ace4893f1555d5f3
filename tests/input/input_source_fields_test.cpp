// Every field of every input source has an effect.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gmock/gmock-more-matchers.h>

#include "dataflow/source.h"
#include "input/readers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Samples for kSmallModel; counts how many were read.
class WatchedSamples final : public RandomAccessSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Zeros, of which is counted how many are read."); }
  explicit WatchedSamples(Params /*p*/) {}
  Spec spec() const override { return {{"x", {DType::kFloat32, {5}}}, {"label", {DType::kInt32, {}}}}; }
  int64_t size() const override { return 1000; }
  void get(int64_t /*index*/, const SampleKey& /*key*/, Datapoint& out) const override {
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = 0;
    std::ranges::fill(out.renew(0, {DType::kFloat32, {5}}).span<float>(), 0.0F);
    const std::lock_guard lock(mutex_);
    ++read_;
    changed_.notify_all();
  }

  static void begin() {
    const std::lock_guard lock(mutex_);
    read_ = 0;
  }
  /// Whether that many samples are read within a second.
  static bool are_read(int64_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(1), [&] { return read_ >= count; });
  }

 private:
  static inline std::mutex mutex_;
  static inline std::condition_variable changed_;
  static inline int64_t read_ = 0;
};

TPACK_REGISTER(Source, WatchedSamples, "WatchedSamples");

/// Whether an input reads three batches ahead, without being asked.
std::string what_it_reads_ahead(const std::string& item) {
  WatchedSamples::begin();
  const DataFlow flow = make_flow(parse_yaml("[WatchedSamples, {BatchData: {batch_size: 4}}]", "flow.yaml"));
  const auto reader =
      Registry<InputSource>::make_item(parse_yaml(item, "input.yaml"))->open(setup_for(flow, 4));
  return WatchedSamples::are_read(3 * 4) ? "three batches" : "less";
}

TEST(InputSources, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<InputSource>::table(), {what_it_reads_ahead}), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
