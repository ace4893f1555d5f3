#include "dataflow/engine/stream_plan.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

const ConfigNode kBatch = item("BatchData", {{"batch_size", 2}});

TEST(StreamPlan, rows_are_made_by_place_if_everything_can_be) {
  const DataFlow flow =
      make_flow(list({item("Counting", 8), item("Picky", {}), kBatch, item("RepeatedData", {{"num", 3}}),
                      item("PrintData", {{"num", 0}})}));
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_TRUE(plan.by_place);
  EXPECT_EQ(plan.batch_size(), 2);
  EXPECT_EQ(plan.batch_order.size(), 1U);
  EXPECT_EQ(plan.batch_maps.size(), 1U);
  EXPECT_EQ(plan.locate({1, 0, 0}, 5).index, 1);
  EXPECT_EQ(plan.locate({1, 0, 0}, 5).pass.repeat, 1);
}

TEST(StreamPlan, maps_after_a_sequential_source_are_left_to_the_workers) {
  const DataFlow flow = make_flow(
      list({item("CountingInOrder", 8), item("Picky", {}), item("Picky", {{"drop_every", 2}}), kBatch}));
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_FALSE(plan.by_place);
  EXPECT_EQ(plan.sample_maps.size(), 2U);
  EXPECT_TRUE(plan.drops());
  EXPECT_EQ(plan.batch_size(), 2);
}

TEST(StreamPlan, reordered_batches_of_a_sequential_flow_are_items) {
  const DataFlow flow =
      make_flow(list({item("CountingInOrder", 8), kBatch, item("LocallyShuffleData", {{"buffer_size", 2}})}));
  const StreamPlan plan = plan_stream(*flow.flow());
  EXPECT_EQ(plan.batched, nullptr);
  EXPECT_EQ(plan.samples, flow.flow().get());
}

}  // namespace
}  // namespace tpack
