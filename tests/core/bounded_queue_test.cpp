#include "core/bounded_queue.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(BoundedQueue, gives_items_in_order_then_the_end) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  queue.close();
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, refuses_items_once_closed) {
  BoundedQueue<int> queue(1);
  queue.close();
  queue.close();
  EXPECT_FALSE(queue.push(1));
}

TEST(BoundedQueue, gives_the_first_error_after_the_items_before_it) {
  BoundedQueue<int> queue(2);
  queue.push(7);
  queue.fail(std::make_exception_ptr(std::runtime_error("first")));
  queue.fail(std::make_exception_ptr(std::runtime_error("second")));
  EXPECT_EQ(queue.pop(), 7);
  try {
    queue.pop();
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(BoundedQueue, moves_items_that_cannot_be_copied) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  queue.push(std::make_unique<int>(5));
  EXPECT_EQ(**queue.pop(), 5);
}

TEST(BoundedQueue, wakes_a_full_producer_and_an_empty_consumer_on_stop) {
  BoundedQueue<int> full(1);
  full.push(1);
  BoundedQueue<int> empty(1);
  std::stop_source stop;
  std::atomic<bool> pushed = true;
  std::atomic<bool> popped = true;
  std::jthread producer([&] { pushed = full.push(2, stop.get_token()); });
  std::jthread consumer([&] { popped = empty.pop(stop.get_token()).has_value(); });
  stop.request_stop();
  producer.join();
  consumer.join();
  EXPECT_FALSE(pushed);
  EXPECT_FALSE(popped);
  EXPECT_EQ(full.size(), 1U);
}

TEST(BoundedQueue, wakes_a_full_producer_on_close) {
  BoundedQueue<int> queue(1);
  queue.push(1);
  std::atomic<bool> pushed = true;
  std::jthread producer([&] { pushed = queue.push(2); });
  queue.close();
  producer.join();
  EXPECT_FALSE(pushed);
}

TEST(BoundedQueue, loses_and_doubles_nothing_between_threads) {
  constexpr int kItems = 2000;
  constexpr int kThreads = 3;
  BoundedQueue<int> queue(4);
  std::atomic<int> next = 0;
  std::vector<std::vector<int>> taken(kThreads);
  {
    std::vector<std::jthread> consumers;
    for (int c = 0; c < kThreads; ++c) {
      consumers.emplace_back([&, c] {
        while (auto item = queue.pop()) taken[static_cast<size_t>(c)].push_back(*item);
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < kThreads; ++p) {
        producers.emplace_back([&] {
          for (int item = next++; item < kItems; item = next++) queue.push(item);
        });
      }
    }
    queue.close();
  }
  std::vector<int> seen(kItems, 0);
  for (const auto& items : taken) {
    for (const int item : items) ++seen[static_cast<size_t>(item)];
  }
  EXPECT_EQ(seen, std::vector<int>(kItems, 1));
}

}  // namespace
}  // namespace tpack
