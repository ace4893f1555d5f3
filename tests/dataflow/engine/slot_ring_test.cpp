#include "dataflow/engine/slot_ring.h"

#include <thread>

#include "core/stop.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(SlotRing, gives_batches_in_order_of_their_number) {
  SlotRing ring(3);
  auto lock = ring.lock();
  BatchSlot* first = ring.open(0);
  BatchSlot* second = ring.open(1);
  ring.publish(*second);
  ring.publish(*first);
  ring.end(2);
  lock.unlock();
  EXPECT_EQ(ring.next({}), first);
  EXPECT_EQ(ring.next({}), second);
  EXPECT_EQ(ring.next({}), nullptr);
}

TEST(SlotRing, workers_start_again_when_half_of_the_slots_are_free) {
  SlotRing ring(4);
  auto lock = ring.lock();
  for (int64_t n = 0; n < 4; ++n) ring.publish(*ring.open(n));
  EXPECT_EQ(ring.open(4), nullptr);
  lock.unlock();
  BatchSlot* slots[4];
  for (auto& slot : slots) slot = ring.next({});
  ring.release(*slots[0]);
  lock.lock();
  EXPECT_EQ(ring.open(4), nullptr) << "one of four is free: not yet";
  lock.unlock();
  ring.release(*slots[1]);
  lock.lock();
  EXPECT_NE(ring.open(4), nullptr);
  EXPECT_NE(ring.open(5), nullptr);
}

TEST(SlotRing, a_reader_that_waits_opens_the_gate) {
  SlotRing ring(4);
  auto lock = ring.lock();
  for (int64_t n = 0; n < 4; ++n) ring.publish(*ring.open(n));
  lock.unlock();
  ring.release(*ring.next({}));
  for (int i = 0; i < 3; ++i) ring.next({});  // held; one slot is free, but workers may not open it yet
  std::thread worker([&] {
    SlotRing::Lock inside = ring.lock();
    BatchSlot* slot = nullptr;
    while ((slot = ring.open(4)) == nullptr) ring.wait(inside, {});
    ring.publish(*slot);
  });
  EXPECT_EQ(ring.next({})->sequence, 4);
  worker.join();
}

TEST(SlotRing, an_error_without_a_batch_ends_the_wait) {
  SlotRing ring(2);
  std::thread worker([&] { ring.fail(std::make_exception_ptr(DataError("gone"))); });
  EXPECT_EQ(error_of([&] { ring.next({}); }), "gone");
  worker.join();
}

}  // namespace
}  // namespace tpack
