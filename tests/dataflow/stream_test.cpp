#include "dataflow/stream.h"

#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "core/clock.h"
#include "core/stop.h"
#include "dataflow/flow_helpers.h"
#include "support/allocation_counter.h"

namespace tpack {
namespace {

/// Shuffling, random crops and flips, random maps, batches with a remainder.
const std::string kRandom =
    "FakeData: {shapes: [[12, 12, 3], []], dtype: [uint8, int32], names: [image, label], size: 53, domain: "
    "[0, 256]}, LocallyShuffleData: {buffer_size: 20}, AugmentImageComponent: [RandomCrop: 8, Flip, "
    "GaussianNoise: 3, Brightness: 20], BatchData: {batch_size: 8, remainder: true}, MapData: {map: {Scale: "
    "{scale: 0.5}}}";
const std::string kDropping =
    ": 41, LocallyShuffleData: {buffer_size: 10}, Picky: {drop_every: 3}, BatchData: {batch_size: 4, "
    "remainder: true}";

/// By name.
std::vector<std::pair<std::string, DataFlow>> all_flows() {
  return {
      {"random", yaml_flow("[" + kRandom + "]")},
      {"dropping by place", yaml_flow("[Counting" + kDropping + "]")},
      {"dropping in order", yaml_flow("[CountingInOrder" + kDropping + "]")},
      {"repeated", yaml_flow("[Counting: {size: 11, shuffle: true}, RepeatedData: {num: 2}, FixedSizeData: "
                             "{size: 17}, Picky, BatchData: 4, FixedSizeData: {size: 3}]")},
      {"in order", yaml_flow("[CountingInOrder: 23, Picky, BatchData: 4]")},
      {"samples", yaml_flow("[Counting: {size: 9, shuffle: true}, Picky]")}};
}

TEST(Stream, data_do_not_depend_on_workers_or_slots) {
  for (const auto& [name, flow] : all_flows()) {
    const auto expected = numbers_of(*flow.stream({.seed = 3, .workers = 1, .slots = 1, .passes = 3}));
    ASSERT_FALSE(expected.empty()) << name;
    for (const size_t workers : {size_t{2}, size_t{4}, size_t{16}}) {
      for (const size_t slots : {size_t{1}, size_t{3}, size_t{8}}) {
        EXPECT_EQ(numbers_of(*flow.stream({.seed = 3, .workers = workers, .slots = slots, .passes = 3})),
                  expected)
            << name << ", " << workers << " workers, " << slots << " slots";
      }
    }
  }
}

TEST(Stream, gives_what_a_cursor_gives) {
  for (const auto& [name, flow] : all_flows()) {
    const auto stream = flow.stream({.seed = 5, .workers = 3, .slots = 4, .position = {2, 0}, .passes = 1});
    const auto cursor = flow.open({.seed = 5, .pass = 2});
    int64_t items = 0;
    for (Datapoint d; cursor->next(d); ++items) {
      const auto batch = stream->next();
      ASSERT_TRUE(batch.has_value()) << name;
      for (size_t i = 0; i < d.size(); ++i) EXPECT_TRUE(bit_equal(d.tensor(i), batch->tensor(i))) << name;
    }
    EXPECT_FALSE(stream->next().has_value()) << name;
    EXPECT_GT(items, 1) << name;
  }
}

TEST(Stream, resumes_at_every_position) {
  for (const auto& [name, flow] : all_flows()) {
    const auto whole = flow.stream({.seed = 7, .workers = 2, .slots = 3});
    for (int consumed = 0; consumed < 16; ++consumed) {
      const auto resumed = flow.stream({.seed = 7, .workers = 3, .slots = 3, .position = whole->position()});
      const auto ahead = flow.stream({.seed = 7, .workers = 1, .slots = 2});
      numbers_of(*ahead, consumed);
      const Numbers rest = numbers_of(*resumed, 6);
      EXPECT_FALSE(rest.empty());
      EXPECT_EQ(rest, numbers_of(*ahead, 6)) << name << " after " << consumed;
      whole->next();
    }
  }
}

TEST(Stream, shards_take_each_batch_exactly_once) {
  for (const auto& [name, flow] : all_flows()) {
    for (const int64_t shards : {2, 3}) {
      const auto whole = flow.stream({.seed = 1, .workers = 2, .slots = 2, .position = {0, 1}, .passes = 3});
      std::vector<std::unique_ptr<Stream>> parts;
      for (int64_t shard = 0; shard < shards; ++shard) {
        parts.push_back(flow.stream({.seed = 1,
                                     .workers = 2,
                                     .slots = 2,
                                     .shard = shard,
                                     .shard_count = shards,
                                     .position = {0, 1},
                                     .passes = 3}));
      }
      for (size_t n = 0;; ++n) {
        const auto expected = numbers_of(*whole, 1);
        EXPECT_EQ(numbers_of(*parts[n % parts.size()], 1), expected) << name << ", batch " << n;
        if (!expected.empty()) continue;
        EXPECT_GE(n, 8U) << name;
        break;
      }
    }
  }
}

TEST(Stream, shards_resume_together) {
  for (const auto& [name, flow] : all_flows()) {
    const auto options = [](int64_t shard, DataPosition at) {
      return StreamOptions{
          .seed = 1, .workers = 2, .slots = 2, .shard = shard, .shard_count = 2, .position = at};
    };
    const auto first = flow.stream(options(0, {}));
    const auto second = flow.stream(options(1, {}));
    for (int round = 0; round < 9; ++round) {
      const auto resumed = flow.stream(options(1, first->position()));
      first->next();
      const Numbers next = numbers_of(*second, 1);
      EXPECT_FALSE(next.empty());
      EXPECT_EQ(next, numbers_of(*resumed, 1)) << name << ", round " << round;
    }
  }
}

TEST(Stream, passes_differ_and_follow_each_other) {
  const DataFlow flow = yaml_flow("[Counting: {size: 20, shuffle: true}, BatchData: 20]");
  const auto stream = flow.stream({.seed = 1, .workers = 2, .slots = 2, .passes = 2});
  std::vector<Integers> orders;
  while (auto batch = stream->next()) {
    const auto values = batch->tensor(0).span<int64_t>();
    orders.emplace_back(values.begin(), values.end());
    EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 20U);
    EXPECT_EQ(batch->tensor(1).at(0), static_cast<double>(orders.size() - 1)) << "number of the pass";
  }
  ASSERT_EQ(orders.size(), 2U);
  EXPECT_NE(orders[0], orders[1]);
}

TEST(Stream, the_first_bad_sample_stops_it_after_the_good_batches) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    for (const int64_t bad : {0, 5, 19}) {
      const DataFlow flow =
          yaml_flow("[" + source + ": 20, Picky: {fail: " + std::to_string(bad) + "}, BatchData: 5]");
      const auto stream = flow.stream({.workers = 4, .slots = 3, .passes = 1});
      for (int64_t good = 0; good < bad / 5; ++good) EXPECT_TRUE(stream->next().has_value());
      const std::string expected = "picky_0, sample " + std::to_string(bad) + " of pass 0: ";
      EXPECT_TRUE(fails([&] { stream->next(); }, {expected})) << source;
      EXPECT_TRUE(fails([&] { stream->next(); }, {expected})) << "the error stays";
    }
    const DataFlow flow = yaml_flow("[" + source + ": 20, Picky: {fail_all: true}, BatchData: 5]");
    EXPECT_TRUE(fails([&] { flow.stream({.workers = 4, .slots = 3})->next(); }, {"picky_0, sample 0 of "}));
  }
}

TEST(Stream, an_error_after_the_batch_names_its_stage) {
  const DataFlow flow = yaml_flow("[Counting: 20, BatchData: 5, MapData: {map: {OneHot: 7}, component: k}]");
  const auto stream = flow.stream({.workers = 2, .slots = 2});
  EXPECT_TRUE(stream->next().has_value());
  EXPECT_TRUE(fails([&] { stream->next(); }, {"map_data_0, sample 1 of pass 0: OneHot: ", "from 0 to 6"}));
}

TEST(Stream, a_flow_that_gives_nothing_is_an_error_not_a_hang) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, Picky: {drop_every: 1}, BatchData: 2]");
  EXPECT_TRUE(fails([&] { flow.stream({.workers = 2, .slots = 2})->next(); }, {"pass 0 has no batch"}));
}

size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

/// The number of threads of the process. Waits up to 2 s until it is at most `most`: a joined thread may stay
/// listed for a moment.
size_t threads_at_rest(size_t most) {
  const Stopwatch watch;
  size_t now = entries("/proc/self/task");
  while (now > most && watch.seconds() < 2) now = entries("/proc/self/task");
  return now;
}

TEST(Stream, a_thousand_opens_and_closes_leave_nothing_behind) {
  std::vector<DataFlow> flows;
  for (const auto& [name, flow] : all_flows()) flows.push_back(flow);
  const size_t alone = threads_at_rest(1);  // 2 with the thread sanitizer
  flows[0].stream({.workers = 1});
  const size_t threads = threads_at_rest(alone);
  const size_t descriptors = entries("/proc/self/fd");
  for (size_t i = 0; i < 1000; ++i) {
    const auto stream = flows[i % flows.size()].stream({.workers = 1 + i % 3, .slots = 1 + i % 4});
    for (size_t n = 0; n < i % 5; ++n) stream->next();
  }
  EXPECT_EQ(threads_at_rest(threads), threads);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

TEST(Stream, a_reader_that_waits_can_be_stopped) {
  const DataFlow flow = yaml_flow("[Counting: 8, BatchData: 4]");
  const auto stream = flow.stream({.workers = 1, .slots = 1});
  const auto held = stream->next();  // the only slot: the next call waits
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  EXPECT_THROW(stream->next(stop.get_token()), Stopped);
  stopper.join();
}

TEST(Stream, a_reader_whose_data_are_ready_can_be_stopped_and_goes_on) {
  const DataFlow flow = yaml_flow("[Counting: 8, BatchData: 4]");
  const auto stream = flow.stream({.workers = 1, .slots = 2, .passes = 1});
  while (stream->stats().ready < 2) std::this_thread::yield();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(stream->next(stop.get_token()), Stopped);
  EXPECT_EQ(stream->next()->tensor(0).at(0), 0);
  EXPECT_EQ(stream->next()->tensor(0).at(0), 4);
  EXPECT_FALSE(stream->next().has_value());
}

TEST(Stream, a_batch_outlives_its_stream) {
  const DataFlow flow = yaml_flow("[Counting: 8, BatchData: 4]");
  auto stream = flow.stream({.workers = 2, .slots = 3});
  auto batch = stream->next();
  stream.reset();
  EXPECT_EQ(batch->tensor(0).at(3), 3);
}

TEST(Stream, steady_state_asks_for_no_large_memory_and_does_not_grow) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  for (const auto& [name, items] : std::map<std::string, std::string>{
           {"random", kRandom},
           {"array", "FakeData: {shapes: [[2]], dtype: [int32], names: [x], size: 5000}, BatchData: 2000"},
           {"digits", "RenderedDigits, BatchData: 64"},
           {"in order",
            "CountingInOrder: 4000, BatchData: 1000, MapData: {map: {Cast: float32}, component: k}"}}) {
    const DataFlow flow = yaml_flow("[" + items + "]");
    const auto stream = flow.stream({.seed = 1, .workers = 2, .slots = 4});
    for (int i = 0; i < 300; ++i) stream->next();
    reset_allocations();
    for (int i = 0; i < 100; ++i) stream->next();
    EXPECT_EQ(allocations().large, 0) << name;
    // Samples that wait to be put in order keep their (small) memory; their number depends on timing.
    EXPECT_LT(allocations().live_bytes, name == "in order" ? 100000 : 4096) << name;
    if (name == "array") {
      EXPECT_EQ(allocations().count, 0);
    }
  }
}

/// Takes a millisecond per sample.
class Slow final : public RandomAccessSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Is slow."); }
  explicit Slow(Params /*p*/) {}
  Spec spec() const override { return {{"k", {DType::kInt64, {}}}}; }
  int64_t size() const override { return 8; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    for (const Stopwatch watch; watch.seconds() < 1e-3;) std::this_thread::yield();
    *out.renew(0, {DType::kInt64, {}}).data<int64_t>() = index;
  }
};

TPACK_REGISTER(Source, Slow, "Slow");

TEST(Stream, counts_batches_and_waiting) {
  const DataFlow flow = yaml_flow("[Slow, BatchData: 4]");
  const auto stream = flow.stream({.workers = 1, .slots = 3, .passes = 1});
  EXPECT_EQ(stream->stats().slots, 3U);
  while (stream->next()) {
  }
  EXPECT_EQ(stream->stats().batches, 2);
  EXPECT_GT(stream->stats().wait_s, 0);
  EXPECT_EQ(stream->stats().ready, 0U);
}

/// Samples of `mb` MB.
struct HeavyParams {
  int mb = 0;
};

class Heavy final : public RandomAccessSource {
 public:
  using Params = HeavyParams;
  static Schema<Params> schema() {
    return Schema<Params>("Samples of one size.").field("mb", &Params::mb, "MB of a sample");
  }
  explicit Heavy(const Params& p) : mb_(p.mb) {}
  Spec spec() const override { return {{"x", {DType::kUInt8, {mb_ << 20}}}}; }
  int64_t size() const override { return 1000; }
  void get(int64_t /*index*/, const SampleKey& /*key*/, Datapoint& out) const override {
    out.renew(0, spec()[0].tensor).data<uint8_t>()[0] = 1;
  }

 private:
  int64_t mb_;
};

TPACK_REGISTER(Source, Heavy, "Heavy");

TEST(Stream, makes_more_single_samples_ahead_than_batches_unless_they_are_large) {
  const auto most_ready = [](const std::string& yaml, size_t wanted) {
    const auto stream = yaml_flow(yaml).stream({.workers = 2});
    stream->next();
    size_t most = 0;
    for (int polls = 0; polls < 50; polls += most >= wanted ? 1 : 0) {
      most = std::max(most, stream->stats().ready);
      std::this_thread::yield();
    }
    return std::pair(most, stream->stats().slots);
  };
  EXPECT_EQ(most_ready("[Heavy: {mb: 1}, BatchData: 2]", 1).second, 4U);
  const auto [few, slots] = most_ready("[Heavy: {mb: 12}]", 3);
  EXPECT_EQ(slots, 1 + 3 * kSamplesOfPrefetch);
  EXPECT_LE(few, 4U) << "12 MB each, up to 32 MB";
  EXPECT_GE(most_ready("[Slow]", 6).first, 6U);
}

}  // namespace
}  // namespace tpack
