#include "dataflow/flow.h"

#include <algorithm>
#include <functional>
#include <latch>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/stop.h"
#include "dataflow/data_flow.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map.h"
#include "dataflow/read_stop.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

TEST(Cursor, skips_as_many_as_there_are) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 5]");
    const auto cursor = flow.open({});
    EXPECT_EQ(cursor->skip(3), 3) << source;
    Datapoint d;
    ASSERT_TRUE(cursor->next(d));
    EXPECT_EQ(d.tensor(0).at(0), 3) << source;
    EXPECT_EQ(cursor->skip(9), 1) << source;
    EXPECT_FALSE(cursor->next(d)) << source;
  }
}

/// A server whose client has left does not read on until the place that it asked for.
TEST(Cursor, skipping_ends_when_a_stop_is_requested) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, RepeatedData]");
  const auto cursor = flow.open({});
  std::stop_source stop;
  const ReadStop of_reads(stop.get_token());
  EXPECT_EQ(cursor->skip(8), 8);
  stop.request_stop();
  EXPECT_THROW(cursor->skip(int64_t{1} << 50U), Stopped);
}

TEST(Cursor, over_places_leaves_out_what_was_dropped) {
  const DataFlow flow = yaml_flow("[Counting: 7, Picky: {drop_every: 2}]");
  EXPECT_EQ(first_component(flow), (Integers{1, 3, 5}));
  EXPECT_EQ(flow.open({})->skip(2), 2);
}

TEST(Flow, says_how_it_seeks) {
  EXPECT_EQ(yaml_flow("[Counting: 7, BatchData: 2]").seek(), Seek::kExact);
  EXPECT_EQ(yaml_flow("[Counting: 7, Picky: {drop_every: 2}]").seek(), Seek::kReplayReads);
  EXPECT_EQ(yaml_flow("[CountingInOrder: 7]").seek(), Seek::kReplayReads);
  EXPECT_STREQ(name_of(Seek::kReplayReads), "replay_reads");
}

Numbers random_of(const std::string& flow) {
  Numbers all;
  for (const Numbers& sample : samples_of(yaml_flow(flow), {.seed = 4})) all.push_back(sample[1]);
  return all;
}

TEST(MapFlow, randomness_does_not_depend_on_what_comes_before_or_after) {
  const auto alone = random_of("[Counting: 6, Picky]");
  EXPECT_EQ(
      alone,
      random_of("[Counting: 6, PrintData: {num: 0}, FixedSizeData: {size: 6}, Picky, PrintData: {num: 0}]"));
  const auto second = random_of("[Counting: 6, Picky, Picky]");
  EXPECT_NE(alone, second) << "two maps of one type draw other numbers";
}

TEST(MapFlow, dropping_makes_the_size_unknown) {
  const DataFlow flow = yaml_flow("[Counting: 6, Picky: {drop_every: 2}]");
  EXPECT_FALSE(flow.size().has_value());
  EXPECT_EQ(flow.flow()->access(), Access::kFiltered);
  EXPECT_EQ(yaml_flow("[Counting: 6, Picky]").size(), 6);
}

TEST(DataFlow, a_reader_of_a_shard_skips_its_own_items) {
  const DataFlow flow = yaml_flow("[Counting: {size: 20}]");
  const auto cursor = flow.open({.shard = 1, .shard_count = 3});  // 1, 4, 7, 10, 13, 16, 19
  Datapoint sample;
  EXPECT_EQ(cursor->skip(0), 0);
  EXPECT_EQ(cursor->skip(2), 2);
  ASSERT_TRUE(cursor->next(sample));
  EXPECT_EQ(*sample.tensor(0).data<int64_t>(), 7);
  EXPECT_EQ(cursor->skip(1), 1);
  ASSERT_TRUE(cursor->next(sample));
  EXPECT_EQ(*sample.tensor(0).data<int64_t>(), 13);
  EXPECT_EQ(cursor->skip(5), 2) << "as many as there are";
  EXPECT_FALSE(cursor->next(sample));
}

TEST(DataFlow, shards_of_a_pass_have_each_item_once) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 11]");
    Integers seen(11);
    for (int64_t shard = 0; shard < 3; ++shard) {
      for (const int64_t k : first_component(flow, {.shard = shard, .shard_count = 3})) {
        EXPECT_EQ(k % 3, shard);
        ++seen[static_cast<size_t>(k)];
      }
    }
    EXPECT_EQ(seen, Integers(11, 1)) << source;
  }
}

TEST(DataFlow, a_pass_can_begin_anywhere) {
  const DataFlow flow = yaml_flow("[Counting: 11]");
  EXPECT_EQ(first_component(flow, {.position = 8}), (Integers{8, 9, 10}));
  EXPECT_EQ(first_component(flow, {.shard = 0, .shard_count = 3, .position = 7}), (Integers{9}));
}

TEST(DataFlow, has_the_settings_of_its_config) {
  const DataFlow flow = yaml_flow("{flow: [Counting: 4], workers: 3, prefetch: 5, on_error: skip}");
  EXPECT_EQ(flow.settings().workers.count, 3);
  EXPECT_EQ(flow.stream({})->stats().slots, 1 + 5 * kSamplesOfPrefetch);
  EXPECT_EQ(flow.settings().on_error, OnError::kSkip);
  EXPECT_FALSE(flow.batch_size().has_value());
}

/// A flow that has nothing but `prepare`.
class PreparedFlow final : public Flow {
 public:
  explicit PreparedFlow(std::function<void()> work) : work_(std::move(work)) {}
  const Spec& spec() const override { return spec_; }
  Access access() const override { return Access::kSequential; }
  void prepare() const override { work_(); }

 private:
  std::function<void()> work_;
  Spec spec_;
};

DataFlow flow_that_prepares(std::function<void()> work) {
  return {DataFlow::Built{std::make_shared<PreparedFlow>(std::move(work))}, FlowSettings{}, nullptr};
}

TEST(DataFlow, several_are_prepared_side_by_side) {
  std::latch both(2);
  const auto meet = [&both] { both.arrive_and_wait(); };  // never returns to one thread alone
  prepare({{"train", flow_that_prepares(meet)}, {"validation", flow_that_prepares(meet)}});
  EXPECT_TRUE(both.try_wait());
}

TEST(DataFlow, of_several_that_cannot_be_prepared_the_first_by_name_is_reported) {
  const auto fail = [](const char* what) { return [what] { throw DataError("file", what); }; };
  bool finished = false;
  const std::map<std::string, DataFlow> flows{{"train", flow_that_prepares(fail("first"))},
                                              {"validation", flow_that_prepares(fail("second"))},
                                              {"zoo", flow_that_prepares([&] { finished = true; })}};
  EXPECT_THAT([&] { prepare(flows); }, testing::ThrowsMessage<DataError>(testing::HasSubstr("first")));
  EXPECT_TRUE(finished);
}

TEST(RandomAccessSource, a_shuffled_pass_has_each_sample_once) {
  const DataFlow flow = yaml_flow("[Counting: {size: 50, shuffle: true}]");
  auto order = first_component(flow, {.seed = 1});
  EXPECT_NE(order, first_component(flow, {.seed = 1, .pass = 1}));
  EXPECT_NE(order, first_component(flow, {.seed = 2}));
  EXPECT_EQ(order, first_component(flow, {.seed = 1}));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RandomAccessSource, the_id_of_a_sample_is_its_index_in_the_source) {
  const DataFlow flow = yaml_flow("[Counting: {size: 50, shuffle: true}]");
  const auto cursor = flow.open({.seed = 1, .pass = 3});
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.id(), (SampleId{3, *d.tensor(0).data<int64_t>(), 0}));
  }
}

TEST(SequentialSource, numbers_its_samples) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5]");
  Datapoint d = first_sample(flow, {.pass = 2, .position = 3});
  EXPECT_EQ(d.id(), (SampleId{2, 3, 0}));
}

TEST(Source, errors_of_its_data_say_where_the_config_names_it) {
  const TempFolder folder;
  folder.write("empty.csv", {});
  const std::string yaml = folder.path("flow.yaml");
  expect_errors(
      [&](const std::string& item) { folder.flow("\n[" + item + "]").prepare(); },
      {{"CSV: {file: empty.csv, columns: {x: [a]}}",
        {yaml + ":2:2: " + folder.path("empty.csv") + ": is empty"}},
       {"CSV: {file: none.csv, columns: {x: [a]}}", {yaml + ":2:14: CSV: ", folder.path("none.csv")}},
       {"Npz: none.npz", {yaml + ":2:7: Npz: ", folder.path("none.npz")}}});
}

}  // namespace
}  // namespace tpack
