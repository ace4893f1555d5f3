#include "dataflow/engine/stream_engine.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(OrderFiller, one_thread_alone_does_all_the_work_of_a_short_stream) {
  const DataFlow flow = make_flow(list({item("CountingInOrder", 6), item("Picky", {{"drop_every", 4}}),
                                        item("BatchData", {{"batch_size", 2}})}));
  const StreamPlan plan = plan_stream(*flow.flow());
  SlotRing ring(4);
  for (BatchSlot& slot : ring.slots()) {
    for (int i = 0; i < 2; ++i) slot.rows.emplace_back(DType::kInt64, Shape{2});
  }
  const auto filler = make_order_filler(plan, {.workers = 1, .passes = 1}, ring);
  filler->run({});
  std::vector<double> numbers;
  while (BatchSlot* slot = ring.next({})) {
    for (int64_t i = 0; i < 2; ++i) numbers.push_back(slot->batch.tensor(0).at(i));
  }
  EXPECT_EQ(numbers, (std::vector<double>{1, 2, 3, 5}));
}

}  // namespace
}  // namespace tpack
