#include "dataflow/engine/stream_engine.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <thread>

#include "core/stop.h"
#include "dataflow/engine/batch_assembler.h"
#include "dataflow/engine/slot_ring.h"
#include "dataflow/engine/stream_plan.h"
#include "dataflow/engine/ticket.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(ChunkSize, aims_at_a_fifth_of_a_millisecond) {
  ChunkSize size;
  EXPECT_EQ(size.next(128), 1) << "nothing measured yet";
  for (int i = 0; i < 50; ++i) size.measured(10, 10 * 20e-6);
  EXPECT_EQ(size.next(128), 10);
  for (int i = 0; i < 50; ++i) size.measured(1, 5e-3);
  EXPECT_EQ(size.next(128), 1);
  for (int i = 0; i < 80; ++i) size.measured(128, 128 * 50e-9);
  EXPECT_EQ(size.next(128), 128);
}

/// Of the threads with that name, those that are nicer than this one by 10.
int nicer_threads(const std::string& wanted) {
  const int nice = std::min(19, getpriority(PRIO_PROCESS, 0) + 10);
  int found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    const auto thread = static_cast<id_t>(std::stoul(task.path().filename().string()));
    if (name == wanted && getpriority(PRIO_PROCESS, thread) == nice) ++found;
  }
  return found;
}

TEST(StreamEngine, workers_give_way_to_the_threads_of_a_step) {
  const DataFlow flow = yaml_flow("[Counting: 6, BatchData: 2]");
  const auto stream = flow.stream({.seed = 1, .workers = 3});
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (nicer_threads("tpack-data") < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(nicer_threads("tpack-data"), 3);
}

TEST(StoreSample, an_error_names_the_batch_stage_and_the_sample) {
  const DataFlow flow = yaml_flow("[Counting: 6, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  BatchSlot slot;
  slot.rows.emplace_back(DType::kFloat32, Shape{2});
  Datapoint d;
  d.set_id({0, 4, 0});
  d.renew(0, {DType::kInt64, {}});
  const std::string error = error_of([&] { store_sample(d, *plan.batched, slot, 0); });
  EXPECT_TRUE(says(error, {"batch_data_0, sample 4 of pass 0: ", "need equal shapes"}));
}

TEST(OrderFiller, one_thread_alone_does_all_the_work_of_a_short_stream) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 6, Picky: {drop_every: 4}, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  SlotRing ring(4);
  for (BatchSlot& slot : ring.slots()) {
    for (int i = 0; i < 2; ++i) slot.rows.emplace_back(DType::kInt64, Shape{2});
  }
  const auto filler = make_order_filler(plan, {.workers = 1, .passes = 1}, ring, nullptr);
  filler->run({});
  Numbers numbers;
  while (BatchSlot* slot = ring.next({})) {
    for (int64_t i = 0; i < 2; ++i) numbers.push_back(slot->batch.tensor(0).at(i));
  }
  EXPECT_EQ(numbers, (Numbers{1, 2, 3, 5}));
}

TEST(PlaceFiller, begins_at_the_position_and_knows_what_comes_next) {
  const DataFlow flow = yaml_flow("[Counting: 6, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  SlotRing ring(4);
  for (BatchSlot& slot : ring.slots()) {
    for (int i = 0; i < 2; ++i) slot.rows.emplace_back(DType::kInt64, Shape{2});
  }
  const auto filler =
      make_place_filler(plan, *flow.flow(), {.workers = 1, .position = {1, 2}, .passes = 2}, ring, nullptr);
  filler->run({});
  std::vector<DataPosition> next;
  Numbers first;
  while (BatchSlot* slot = ring.next({})) {
    next.push_back(slot->next);
    first.push_back(slot->batch.tensor(0).at(0));
  }
  EXPECT_EQ(first, (Numbers{4, 0, 2, 4}));
  EXPECT_EQ(next, (std::vector<DataPosition>{{2, 0}, {2, 1}, {2, 2}, {3, 0}}));
}

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

Ticket ticket() {
  Ticket t;
  t.items.resize(16);
  return t;
}

TEST(TicketSource, tickets_never_reach_over_the_end_of_a_pass) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {.passes = 2});
  Ticket t = ticket();
  source.pull(t, 4);
  EXPECT_EQ(t.count, 4U);
  EXPECT_TRUE(t.begins_pass);
  EXPECT_FALSE(t.ends_pass);
  source.pull(t, 4);
  EXPECT_EQ(t.count, 1U);
  EXPECT_TRUE(t.ends_pass);
  EXPECT_FALSE(source.ended());
  source.pull(t, 16);
  EXPECT_EQ(t.pass.pass, 1);
  EXPECT_TRUE(source.ended());
}

TEST(TicketSource, begins_in_the_middle_and_continues_in_the_next_pass) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {.position = {0, 3}});  // a pass has two batches
  Ticket t = ticket();
  source.pull(t, 16);
  EXPECT_EQ(t.count, 0U);
  EXPECT_EQ(t.skipped_batches, 2);
  source.pull(t, 1);
  EXPECT_EQ(t.skipped_batches, 1);
  EXPECT_EQ(t.items[0].data.tensor(0).at(0), 2);
}

TEST(TicketSource, an_error_comes_after_the_good_items) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5, Picky: {fail: 3}, BatchData: 2]");
  const StreamPlan plan = plan_stream(*flow.flow());
  TicketSource source(plan, {});
  Ticket t = ticket();
  source.pull(t, 5);
  source.map(t);
  EXPECT_EQ(t.count, 3U);
  EXPECT_TRUE(fails([&] { std::rethrow_exception(t.error); }, {":1:22: picky_0, sample 3 of pass 0: "}));
}

}  // namespace
}  // namespace tpack
