#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(RepeatedData, gives_the_flow_several_times) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 3, RepeatedData: {num: 2}]");
    EXPECT_EQ(first_component(flow), (Integers{0, 1, 2, 0, 1, 2})) << source;
    EXPECT_EQ(first_component(flow, {.position = 4}), (Integers{1, 2})) << source;
  }
}

TEST(RepeatedData, repetitions_are_shuffled_and_augmented_differently) {
  const DataFlow flow = yaml_flow("[Counting: {size: 30, shuffle: true}, Picky, RepeatedData: {num: 2}]");
  const auto all = first_component(flow, {.seed = 1});
  EXPECT_NE(Integers(all.begin(), all.begin() + 30), Integers(all.begin() + 30, all.end()));
}

TEST(RepeatedData, without_end_has_no_end) {
  const DataFlow flow = yaml_flow("[Counting: 3, RepeatedData, BatchData: 2]");
  EXPECT_EQ(flow.size(), kEndless);
  const auto stream = flow.stream({.workers = 2, .slots = 2, .position = {0, 1000001}});
  EXPECT_TRUE(bit_equal(stream->next()->tensor(0), Tensor::of<int64_t>({2}, {2000002 % 3, 2000003 % 3})));
  EXPECT_EQ(stream->position(), (DataPosition{0, 1000002}));
}

TEST(RepeatedData, rejects_zero_times_and_nothing_to_repeat) {
  EXPECT_TRUE(fails([] { yaml_flow("[Counting: 3, RepeatedData: {num: 0}]"); }, {"'num' is 0", "or -1"}));
  const DataFlow empty = yaml_flow("[CountingInOrder: 0, RepeatedData]");
  Datapoint d;
  EXPECT_EQ(error_of([&] { empty.open({})->next(d); }), "RepeatedData: the flow before it is empty");
}

TEST(FixedSizeData, the_next_pass_continues_where_the_last_one_ended) {
  const DataFlow flow = yaml_flow("[Counting: 5, FixedSizeData: {size: 3}]");
  EXPECT_EQ(first_component(flow, {.pass = 0}), (Integers{0, 1, 2}));
  EXPECT_EQ(first_component(flow, {.pass = 1}), (Integers{3, 4, 0}));
  EXPECT_EQ(first_component(flow, {.pass = 2}), (Integers{1, 2, 3}));
}

TEST(FixedSizeData, without_state_each_pass_starts_over) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 3, FixedSizeData: {size: 5, keep_state: false}]");
    EXPECT_EQ(first_component(flow, {.pass = 1}), (Integers{0, 1, 2, 0, 1})) << source;
    EXPECT_EQ(flow.size(), 5);
  }
}

TEST(FixedSizeData, state_needs_places) {
  EXPECT_TRUE(fails([] { yaml_flow("[CountingInOrder: 3, FixedSizeData: {size: 5}]"); }, {"keep_state"}));
}

const live::Fields kFixedSizeData("stage", "FixedSizeData", {.base = "{size: 3}"});

}  // namespace
}  // namespace tpack
