#include "dataflow/engine/stream_plan.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(StreamPlan, rows_are_made_by_place_if_everything_can_be) {
  const DataFlow flow =
      yaml_flow("[Counting: 8, Picky, BatchData: 2, RepeatedData: {num: 3}, PrintData: {num: 0}]");
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_TRUE(plan.by_place);
  EXPECT_EQ(plan.batch_size(), 2);
  EXPECT_EQ(plan.batch_order.size(), 1U);
  EXPECT_EQ(plan.batch_maps.size(), 1U);
  EXPECT_EQ(plan.locate({1, 0, 0}, 5).index, 1);
  EXPECT_EQ(plan.locate({1, 0, 0}, 5).pass.repeat, 1);
}

TEST(StreamPlan, maps_after_a_sequential_source_are_left_to_the_workers) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 8, Picky, Picky: {drop_every: 2}, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_FALSE(plan.by_place);
  EXPECT_EQ(plan.sample_maps.size(), 2U);
  EXPECT_TRUE(plan.drops());
  EXPECT_EQ(plan.batch_size(), 2);
}

TEST(StreamPlan, reordered_batches_of_a_sequential_flow_are_items) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 8, BatchData: 2, LocallyShuffleData: {buffer_size: 2}]");
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_EQ(plan.batched, nullptr);
  EXPECT_EQ(plan.samples, flow.flow().get());
}

}  // namespace
}  // namespace tpack
