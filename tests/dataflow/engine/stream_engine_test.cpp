#include "dataflow/engine/stream_engine.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <thread>

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
  const auto filler = make_order_filler(plan, {.workers = 1, .passes = 1}, ring);
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
      make_place_filler(plan, *flow.flow(), {.workers = 1, .position = {1, 2}, .passes = 2}, ring);
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

}  // namespace
}  // namespace tpack
