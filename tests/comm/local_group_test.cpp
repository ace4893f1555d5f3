#include "comm/local_group.h"

#include <fstream>
#include <functional>
#include <latch>
#include <thread>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "comm/checks.h"
#include "core/error.h"
#include "support/captured_log.h"
#include "support/temporary_folder.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Runs the function as each member on its own thread; returns what each one threw ("" for nothing).
std::vector<std::string> run(LocalGroup& group, const std::function<void(Comm&)>& act) {
  std::vector<std::string> errors(static_cast<size_t>(group.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        act(*group.member(rank));
      } catch (const DistributedError& error) {
        errors[static_cast<size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

class LocalGroupOf : public testing::TestWithParam<int> {};

TEST_P(LocalGroupOf, does_every_operation) {
  LocalGroup group(GetParam());
  const auto errors = run(group, [](Comm& comm) { check_operations(comm); });
  EXPECT_EQ(errors, std::vector<std::string>(static_cast<size_t>(GetParam())));
}

TEST_P(LocalGroupOf, gives_the_same_bits_in_every_run_and_on_every_member) {
  constexpr size_t kCount = 5000;
  std::vector<std::vector<float>> results;
  std::mutex mutex;
  for (int repeat = 0; repeat < 5; ++repeat) {
    LocalGroup group(GetParam());
    run(group, [&](Comm& comm) {
      std::vector<float> values = values_of<float>(comm.rank(), kCount);
      comm.all_reduce_sum(values, "gradients");
      const std::lock_guard lock(mutex);
      results.push_back(std::move(values));
    });
  }
  ASSERT_EQ(results.size(), 5U * static_cast<size_t>(GetParam()));
  for (const auto& result : results) EXPECT_TRUE(same_bits(result, results[0]));
}

INSTANTIATE_TEST_SUITE_P(Threads, LocalGroupOf, testing::Values(1, 2, 3, 4));

TEST(LocalGroup, names_the_missing_member) {
  // Ranks 0 and 2 must arrive within the time limit, even on a busy machine.
  LocalGroup group(3, 2);
  std::latch started(3);
  const auto errors = run(group, [&](Comm& comm) {
    started.arrive_and_wait();
    if (comm.rank() != 1) comm.agree_max(0, "start");
  });
  EXPECT_THAT(errors, testing::ElementsAre("rank 0, start: no response from rank 1 within 2 s", "",
                                           "rank 2, start: no response from rank 1 within 2 s"));
}

TEST(LocalGroup, waits_as_long_as_it_is_told) {
  LocalGroup group(2);
  const auto errors = run(group, [](Comm& comm) {
    comm.set_timeout(0.05);
    if (comm.rank() == 0) comm.agree_max(0, "start");
  });
  EXPECT_THAT(errors, testing::ElementsAre("rank 0, start: no response from rank 1 within 0.05 s", ""));
}

TEST(LocalGroup, waits_for_one_that_works_alone_and_says_so) {
  const TemporaryFolder folder;
  log::to_file(folder / "log.txt");
  const auto warned = [&] {
    std::ifstream file(folder / "log.txt");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find("rank 0, stop: rank 1 is still busy with a long save; still waiting") !=
           std::string::npos;
  };
  LocalGroup group(2, 0.02);
  const auto errors = run(group, [&](Comm& comm) {
    if (comm.rank() == 1) {
      const ScopedActivity busy(comm, "a long save");
      while (!warned()) std::this_thread::yield();
    }
    EXPECT_EQ(comm.agree_max(comm.rank(), "stop"), 1);
  });
  log::close_file();
  EXPECT_THAT(errors, testing::ElementsAre("", ""));
}

TEST(LocalGroup, waits_no_longer_for_one_that_is_back) {
  const CapturedLog log;
  LocalGroup group(2, 0.02);
  const auto errors = run(group, [&](Comm& comm) {
    if (comm.rank() == 0) comm.agree_max(0, "start");
    if (comm.rank() == 0) return;
    const ScopedActivity busy(comm, "a short save");
    while (log.text().find("rank 1 is still busy with a short save") == std::string::npos)
      std::this_thread::yield();
  });
  EXPECT_THAT(errors, testing::ElementsAre("rank 0, start: no response from rank 1 within 0.02 s", ""));
}

/// Each member's array ends with what it throws. A sanitizer sees it if another one still adds it.
TEST(LocalGroup, nobody_looks_at_arrays_of_a_member_that_has_failed) {
  for (int round = 0; round < 50; ++round) {
    LocalGroup group(2);
    std::latch started(3);
    std::jthread aborting([&] {
      started.arrive_and_wait();
      for (int i = 0; i < 500 * round; ++i) std::this_thread::yield();
      group.abort("enough");
    });
    const auto errors = run(group, [&](Comm& comm) {
      started.arrive_and_wait();
      while (true) {
        std::vector<float> own(size_t{1} << 16U, 1.F);
        comm.all_reduce_sum(std::span<float>(own), "sums");
      }
    });
    for (const std::string& error : errors) EXPECT_NE(error.find("sums: enough"), std::string::npos) << error;
  }
}

TEST(LocalGroup, wakes_all_when_one_has_failed) {
  LocalGroup group(3);
  const auto errors = run(group, [&](Comm& comm) {
    if (comm.rank() == 2) {
      group.abort("tower 2 failed: out of memory");
      return;
    }
    comm.agree_max(0, "step");
  });
  EXPECT_EQ(errors[0], "rank 0, step: tower 2 failed: out of memory");
  EXPECT_EQ(errors[1], "rank 1, step: tower 2 failed: out of memory");
}

TEST(LocalGroup, rejects_members_at_different_stages) {
  LocalGroup group(2);
  const auto errors = run(group, [](Comm& comm) {
    std::vector<float> values(comm.rank() == 0 ? 10 : 20);
    comm.all_reduce_sum(values, "gradients");
  });
  for (const std::string& error : errors) {
    EXPECT_THAT(error, testing::HasSubstr("at 'gradients' with 10"));
    EXPECT_THAT(error, testing::HasSubstr("at 'gradients' with 20"));
  }
}

}  // namespace
}  // namespace tpack
