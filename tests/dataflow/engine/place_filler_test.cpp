#include "dataflow/engine/stream_engine.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(PlaceFiller, begins_at_the_position_and_knows_what_comes_next) {
  const DataFlow flow = make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 2}})}));
  const StreamPlan plan = plan_stream(*flow.flow());
  SlotRing ring(4);
  for (BatchSlot& slot : ring.slots()) {
    for (int i = 0; i < 2; ++i) slot.rows.emplace_back(DType::kInt64, Shape{2});
  }
  const auto filler =
      make_place_filler(plan, *flow.flow(), {.workers = 1, .position = {1, 2}, .passes = 2}, ring);
  filler->run({});
  std::vector<DataPosition> next;
  std::vector<double> first;
  while (BatchSlot* slot = ring.next({})) {
    next.push_back(slot->next);
    first.push_back(slot->batch.tensor(0).at(0));
  }
  EXPECT_EQ(first, (std::vector<double>{4, 0, 2, 4}));
  EXPECT_EQ(next, (std::vector<DataPosition>{{2, 0}, {2, 1}, {2, 2}, {3, 0}}));
}

}  // namespace
}  // namespace tpack
