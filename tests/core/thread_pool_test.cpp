#include "core/thread_pool.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <pthread.h>
#include <stdexcept>

#include <gtest/gtest.h>

namespace tpack {
namespace {

void wait_for(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

TEST(ThreadPool, runs_the_loop_once_on_each_worker) {
  std::array<std::atomic<int>, 3> runs{};
  ThreadPool pool("test", runs.size(), [&](size_t worker, const std::stop_token&) { ++runs[worker]; });
  pool.join();
  pool.rethrow();
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(ThreadPool, stops_and_joins_when_destroyed) {
  std::atomic<int> ended = 0;
  {
    const ThreadPool pool("test", 3, [&](size_t, const std::stop_token& stop) {
      wait_for(stop);
      ++ended;
    });
    EXPECT_EQ(pool.size(), 3U);
  }
  EXPECT_EQ(ended, 3);
}

TEST(ThreadPool, stops_the_others_and_hands_over_the_first_error) {
  ThreadPool pool("test", 3, [](size_t worker, const std::stop_token& stop) {
    if (worker == 1) throw std::runtime_error("worker 1 failed");
    wait_for(stop);
  });
  pool.join();
  EXPECT_TRUE(pool.stop_token().stop_requested());
  try {
    pool.rethrow();
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "worker 1 failed");
  }
}

TEST(ThreadPool, names_its_threads_with_what_fits) {
  std::array<char, 16> name{};
  ThreadPool pool("a-name-longer-than-fifteen", 1, [&](size_t, const std::stop_token&) {
    pthread_getname_np(pthread_self(), name.data(), name.size());
  });
  pool.join();
  EXPECT_STREQ(name.data(), "a-name-longer-t");
}

}  // namespace
}  // namespace tpack
