// The heap allocations of a training step, on all threads, with data and callbacks.
#include <algorithm>
#include <cxxabi.h>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <gmock/gmock-more-matchers.h>

#include "comm/self_comm.h"
#include "core/clock.h"
#include "run/train.h"
#include "support/allocation_counter.h"
#include "support/paths.h"
#include "support/temporary_folder.h"
#include "train/callback.h"

namespace tpack {
namespace {

/// What HeapWatch recorded, from one step to another.
struct Seen {
  pid_t training_thread = 0;
  std::vector<int64_t> live;  // bytes at the first step, and at every hundredth step after it
  std::vector<RecordedAllocation> allocations;
};
Seen seen;

struct HeapWatchParams {
  int64_t from = 10;
  int64_t to = 110;
};

/// How often each other thread of the process has left a processor so far; empty if one of them is running.
std::string sleeping_others() {
  std::string all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = task.path().filename();
    if (id == std::to_string(gettid())) continue;
    const std::string status = content_of(task.path() / "status");
    const bool sleeps = status.find("\nState:\tS") != std::string::npos;
    const size_t switches = status.find("\nvoluntary_ctxt_switches:");
    if (!sleeps || switches == std::string::npos) return "";
    all += id + status.substr(switches);
  }
  return all;
}

/// True if all of them wait for something: then nothing happens any more. A thread that was seen asleep may
/// have been woken by one that was checked later, but then it has left a processor once more.
bool all_others_sleep() {
  const std::string once = sleeping_others();
  return !once.empty() && sleeping_others() == once;
}

/// Bytes in use after the workers have filled the queue.
int64_t bytes_at_rest() {
  while (!all_others_sleep()) std::this_thread::yield();
  return allocations().live_bytes;
}

/// Records from the end of one step to the end of another, which ends the run.
class HeapWatch final : public Callback {
 public:
  using Params = HeapWatchParams;
  static Schema<Params> schema() {
    return Schema<Params>("Watches the heap.")
        .field("from", &Params::from, "the step after which it begins")
        .field("to", &Params::to, "the step after which it ends");
  }
  explicit HeapWatch(Params p) : p_(p) {}

  void before_train(Run& /*run*/) override {
    start_recording_allocations();  // so that the allocations of the first time are not recorded
    stop_recording_allocations();
  }
  void trigger_step(Run& run) override {
    if (run.global_step() == p_.from) {
      seen.training_thread = gettid();
      seen.live.reserve(100);
      seen.live.push_back(bytes_at_rest());
      start_recording_allocations();
      return;
    }
    if (run.global_step() < p_.from || (run.global_step() - p_.from) % 100 != 0) return;
    const bool is_last = run.global_step() == p_.to;
    const auto made = is_last ? stop_recording_allocations() : std::span<const RecordedAllocation>();
    seen.live.push_back(bytes_at_rest());
    if (!is_last) return;
    seen.allocations.assign(made.begin(), made.end());
    run.request_stop("all was seen");
  }

 private:
  Params p_;
};
TPACK_REGISTER(Callback, HeapWatch, "HeapWatch");

struct Frame {
  std::string object;    // "libtpack.so.0"
  std::string function;  // or the place in the object, for addr2line
};

Frame look_up(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {"?", "?"};
  const std::string path = info.dli_fname;
  std::ostringstream place;
  place << "+0x" << std::hex
        << reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(info.dli_fbase);
  Frame frame{path.substr(path.rfind('/') + 1), place.str()};
  if (info.dli_sname == nullptr) return frame;
  int status = 0;
  char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  frame.function = plain == nullptr ? info.dli_sname : plain;
  std::free(plain);
  return frame;
}

/// Looking up a symbol is slow, and the same few symbols appear again and again.
const Frame& frame_of(void* address) {
  static std::map<void*, Frame> known;
  const auto [at, is_new] = known.try_emplace(address);
  if (is_new) at->second = look_up(address);
  return at->second;
}

bool only_passes_on(const std::string& object) {
  const auto begins = [&](const char* name) { return object.starts_with(name); };
  return begins("test_reliability") || begins("libc.so") || begins("libstdc++.so") || begins("ld-linux");
}

/// The calls that led to an allocation, starting with the innermost that is neither malloc nor the standard
/// library.
std::vector<Frame> callers(const RecordedAllocation& allocation) {
  std::vector<Frame> frames;
  for (int i = 0; i < allocation.depth; ++i) {
    const Frame& frame = frame_of(allocation.stack[static_cast<size_t>(i)]);
    if (!frames.empty() || !only_passes_on(frame.object)) frames.push_back(frame);
  }
  return frames;
}

std::string text_of(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) text += "\n    " + frame.object + ": " + frame.function;
  return text;
}

/// The stacks of allocations that are not allowed, with how often each was recorded.
template <class Counts>
std::map<std::string, int> stacks(Counts&& counts) {
  std::map<std::string, int> found;
  for (const RecordedAllocation& allocation : seen.allocations) {
    const auto frames = callers(allocation);
    if (counts(allocation, frames.empty() ? "?" : frames.front().object)) ++found[text_of(frames)];
  }
  return found;
}

TEST(Recorder, sees_all_of_one_thread_and_what_is_large_of_the_others) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has an allocator of its own";
  std::thread other;
  std::vector<std::vector<char>> kept(3);
  const std::function<void()> act = [&] {
    kept[0].reserve(5000);
    kept[1].reserve(123);
  };
  start_recording_allocations();
  kept[2].reserve(100);
  other = std::thread(act);
  other.join();
  std::map<size_t, int> count;
  for (const RecordedAllocation& made : stop_recording_allocations()) ++count[made.bytes];
  EXPECT_EQ(count[100], 1);
  EXPECT_EQ(count[5000], 1);
  EXPECT_EQ(count[123], 0);
}

class AllocationsOfSteps : public testing::Test {
 protected:
  void run(const std::string& config, const std::vector<std::string>& overrides) {
    if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has an allocator of its own";
    seen = {};
    TrainOptions options;
    options.config = source_folder() + "/tests/reliability/" + config;
    options.overrides = overrides;
    options.log_dir = folder_ / std::to_string(runs_++);
    const auto world = make_self_comm();
    ASSERT_EQ(train(options, *world).ending, StopReason::kStopped);  // by the callback that counts
    ASSERT_NE(seen.training_thread, 0);
  }

  TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(AllocationsOfSteps, none_on_the_training_thread_but_by_the_kernel_library_and_none_that_are_large) {
  const Stopwatch watch;
  run("digits-convnet.yaml", {"callbacks=[{ModelSaver: {}}, {HeapWatch: {from: 10, to: 110}}]"});
  if (IsSkipped()) return;
  constexpr double kBetweenProgressLines = 30;  // their texts are made on the training thread
  if (watch.seconds() > kBetweenProgressLines)
    GTEST_SKIP() << "this machine is too busy: 110 steps took " << watch.seconds()
                 << " s, a progress line was due";
  ASSERT_LT(seen.allocations.size(), kMaxRecordedAllocations) << "more than there is room for";
  const auto by_onednn = [](const std::string& object) { return object.starts_with("libdnnl.so"); };
  const auto ours = stacks([&](const RecordedAllocation& a, const std::string& object) {
    return a.thread == seen.training_thread && !by_onednn(object);
  });
  EXPECT_THAT(ours, testing::IsEmpty());
  EXPECT_THAT(stacks([&](const RecordedAllocation&, const std::string& object) { return by_onednn(object); }),
              testing::Not(testing::IsEmpty()))
      << "where nothing at all is recorded, this test tests nothing";
  // Its matrix products allocate room for packed blocks in each run.
  const auto large = stacks([&](const RecordedAllocation& a, const std::string& object) {
    return a.bytes >= 4096 && !by_onednn(object);
  });
  EXPECT_THAT(large, testing::IsEmpty());
  std::cout << seen.allocations.size() << " allocations of the training thread in 100 steps" << std::endl;
}

TEST_F(AllocationsOfSteps, hold_no_more_and_more_memory) {
  for (const char* config : {"digits-convnet.yaml", "convnet.yaml"}) {
    run(config, {"steps_per_epoch=2000", "callbacks=[{ModelSaver: {}}, {HeapWatch: {from: 110, to: 1010}}]"});
    if (IsSkipped()) return;
    ASSERT_EQ(seen.live.size(), 10U) << config;
    EXPECT_GT(seen.live.front(), 1'000'000) << config;
    EXPECT_EQ(seen.live.back(), seen.live.front()) << config << ": " << testing::PrintToString(seen.live);
  }
}

}  // namespace
}  // namespace tpack
