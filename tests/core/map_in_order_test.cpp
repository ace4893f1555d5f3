#include "core/map_in_order.h"

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

/// Squares of the numbers below `count`, as they are taken.
std::vector<int> squares(int count, size_t threads, const std::function<void(int)>& before = {}) {
  int next = 0;
  std::vector<int> taken;
  MapInOrder<int, int>([&] { return next < count ? std::optional(next++) : std::nullopt; },
                       [&](int item) {
                         if (before) before(item);
                         return item * item;
                       },
                       [&](int result) { taken.push_back(result); })
      .run("test", threads);
  return taken;
}

TEST(MapInOrder, takes_results_in_the_order_of_the_items) {
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{7}}) {
    for (const int count : {0, 1, 2, 100}) {
      std::vector<int> expected;
      for (int i = 0; i < count; ++i) expected.push_back(i * i);
      EXPECT_EQ(squares(count, threads), expected) << threads;
      const auto slow_at_first = [](int item) {
        for (int i = 0; i < 20 - item; ++i) std::this_thread::yield();
      };
      EXPECT_EQ(squares(count, threads, slow_at_first), expected) << threads;
    }
  }
}

TEST(MapInOrder, is_not_more_than_three_items_a_thread_ahead) {
  std::atomic<int> given = 0;
  std::atomic<int> taken = 0;
  std::atomic<int> most = 0;
  MapInOrder<int, int>(
      [&]() -> std::optional<int> {
        most = std::max(most.load(), given - taken);
        return given < 1000 ? std::optional(given++) : std::nullopt;
      },
      [](int item) { return item; }, [&](int) { ++taken; })
      .run("test", 2);
  EXPECT_EQ(taken, 1000);
  EXPECT_LE(most, 6);
}

TEST(MapInOrder, throws_the_error_of_any_function) {
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    const auto fail = [](int item) {
      if (item == 40) throw std::runtime_error("forty");
    };
    EXPECT_THROW(squares(1000, threads, fail), std::runtime_error) << threads;
    int next = 0;
    int taken = 0;
    MapInOrder<int, int> map([&] { return std::optional(next++); }, [](int item) { return item; },
                             [&](int) {
                               if (++taken == 5) throw std::runtime_error("five");
                             });
    EXPECT_THROW(map.run("test", threads), std::runtime_error) << threads;
    EXPECT_EQ(taken, 5) << threads;
  }
}

}  // namespace
}  // namespace tpack
