#include "dataflow/engine/batch_assembler.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(BatchAssembler, puts_items_of_any_ticket_size_into_batches) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 7, BatchData: {batch_size: 3, remainder: true}]");
  const StreamPlan plan = plan_stream(*flow.flow());
  for (const int64_t size : {1, 2, 4, 7}) {
    SlotRing ring(4);
    for (BatchSlot& slot : ring.slots()) {
      for (int i = 0; i < 2; ++i) slot.rows.emplace_back(DType::kInt64, Shape{3});
    }
    const StreamOptions options{.passes = 1};
    TicketSource source(plan, options);
    BatchAssembler assembler(plan, options, ring);
    auto lock = ring.lock();
    while (!assembler.finished()) {
      Ticket t;
      t.items.resize(static_cast<size_t>(size));
      source.pull(t, size);
      source.map(t);
      assembler.add(t, lock, {});
    }
    lock.unlock();
    Integers sizes;
    while (BatchSlot* slot = ring.next({})) {
      sizes.push_back(slot->samples);
      EXPECT_EQ(slot->batch.tensor(0).at(0), static_cast<double>(3 * (sizes.size() - 1)));
      EXPECT_EQ(slot->next, (DataPosition{0, static_cast<int64_t>(sizes.size())}));
    }
    EXPECT_EQ(sizes, (Integers{3, 3, 1})) << "tickets of " << size;
  }
}

}  // namespace
}  // namespace tpack
