#include "cpu/team.h"

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "core/clock.h"
#include "core/spin_then_yield.h"

namespace tpack::cpu {
namespace {

TEST(Team, computes_every_piece_once_in_job_after_job) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (int job = 0; job < 2000; ++job) {
      const int pieces = 1 + job % Team::kMaxPieces;
      std::array<std::atomic<int>, Team::kMaxPieces> computed{};
      team.run(pieces, [&](int piece) { ++computed[static_cast<size_t>(piece)]; });
      for (int piece = 0; piece < Team::kMaxPieces; ++piece)
        ASSERT_EQ(computed[static_cast<size_t>(piece)], piece < pieces ? 1 : 0)
            << "piece " << piece << " of " << pieces;
    }
  }
}

/// One of the threads returns only after all other pieces are done, like a thread without a processor.
TEST(Team, waits_for_no_thread_that_holds_no_piece) {
  Team team(2);
  constexpr int kPieces = 8;
  std::atomic<int> done = 0;
  std::atomic<bool> others_done = false;
  team.run(kPieces, [&](int piece) {
    if (piece == 1) {
      while (done < kPieces - 1) std::this_thread::yield();
      others_done = true;
    } else {
      ++done;
    }
  });
  EXPECT_TRUE(others_done);
}

TEST(Team, uses_all_its_threads) {
  Team team(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  team.run(3, [&](int /*piece*/) {
    const auto here = [&] {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
      return threads.size();
    };
    while (here() < 3) std::this_thread::yield();
  });
  EXPECT_EQ(threads.size(), 3U);
}

/// Each piece waits for the thread of the other one, so the helper takes one in each job. On a busy machine
/// the next job may come so late that the helper sleeps, as it may: then another one is tried.
TEST(Team, is_helped_by_a_thread_of_none) {
  constexpr int kHelpers = 100;
  constexpr int kJobs = 10;
  constexpr double kAsleepAfterS = 0.1;
  Team team(1);
  std::atomic<uint32_t> turn = 7;
  int helped = 0;
  for (int i = 0; i < kHelpers && helped < kJobs; ++i) {
    std::jthread helper([&, old = turn.load()] { team.assist(turn, old); });
    const std::set both = {std::this_thread::get_id(), helper.get_id()};
    std::set<std::thread::id> threads = both;
    for (helped = 0; helped < kJobs && threads == both; helped += threads == both ? 1 : 0) {
      threads.clear();
      std::mutex mutex;
      const Stopwatch watch;
      team.run(2, [&](int /*piece*/) {
        const auto here = [&] {
          const std::lock_guard lock(mutex);
          threads.insert(std::this_thread::get_id());
          return threads.size();
        };
        while (here() < 2 && watch.seconds() < kAsleepAfterS) std::this_thread::yield();
      });
    }
    ++turn;
    turn.notify_all();
    helper.join();  // it returns
  }
  EXPECT_EQ(helped, kJobs);
}

TEST(Team, wakes_threads_that_sleep) {
  Team team(2);
  for (int job = 0; job < 20; ++job) {
    std::atomic<int> arrived = 0;
    // Longer than a waiting thread stays awake; each piece needs the thread of the other one.
    for (const Stopwatch idle; idle.seconds() < SpinThenYield::kMaxS + 10e-3;) std::this_thread::yield();
    team.run(2, [&](int /*piece*/) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived, 2);
  }
}

TEST(Team, throws_what_a_piece_throws_and_continues) {
  Team team(2);
  for (int job = 0; job < 100; ++job) {
    std::atomic<int> computed = 0;
    EXPECT_THROW(team.run(4,
                          [&](int piece) {
                            ++computed;
                            if (piece >= 2) throw std::runtime_error("piece");
                          }),
                 std::runtime_error);
    EXPECT_EQ(computed, 4);
    team.run(4, [&](int /*piece*/) { ++computed; });
    EXPECT_EQ(computed, 8);
  }
}

/// The smallest number above 0, computed where the compiler cannot.
float half_of_smallest_normal() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

TEST(Team, takes_denormal_numbers_for_zero_on_its_threads) {
  Team team(2);
  std::array<float, 2> results = {1, 1};
  std::atomic<int> arrived = 0;
  const std::thread::id caller = std::this_thread::get_id();
  team.run(2, [&](int piece) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    results[static_cast<size_t>(piece)] =
        std::this_thread::get_id() == caller ? 0 : half_of_smallest_normal();
  });
  EXPECT_EQ(results, (std::array<float, 2>{0, 0}));
}

}  // namespace
}  // namespace tpack::cpu
