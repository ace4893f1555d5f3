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
  const DataFlow flow = make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 2}})}));
  const auto stream = flow.stream({.seed = 1, .workers = 3});
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (nicer_threads("tpack-data") < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(nicer_threads("tpack-data"), 3);
}

TEST(StoreSample, an_error_names_the_batch_stage_and_the_sample) {
  const DataFlow flow = make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 2}})}));
  const StreamPlan plan = plan_stream(*flow.flow());
  BatchSlot slot;
  slot.rows.emplace_back(DType::kFloat32, Shape{2});
  Datapoint d;
  d.set_id({0, 4, 0});
  d.renew(0, {DType::kInt64, {}});
  EXPECT_EQ(error_of([&] { store_sample(d, *plan.batched, slot, 0); }),
            "batch_data_0, sample 4 of pass 0: a component is int64 [], the rows of its batch are float32 "
            "[]; samples "
            "of one batch need equal shapes");
}

}  // namespace
}  // namespace tpack
