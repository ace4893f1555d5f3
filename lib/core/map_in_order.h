#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "core/thread_pool.h"

namespace tpack {

/// Processes items with several threads and takes the results one by one in the order of the items. `next`
/// returns the items until there are none; neither `next` nor `take` is called by two threads at once. At
/// most three items per thread are in progress. With one thread, everything runs on the calling thread.
/// Errors: the first one of any function; after it, nothing is taken.
template <class Item, class Result>
class MapInOrder {
 public:
  using Next = std::function<std::optional<Item>()>;
  using Work = std::function<Result(Item)>;
  using Take = std::function<void(Result)>;

  MapInOrder(Next next, Work work, Take take)
      : next_(std::move(next)), work_(std::move(work)), take_(std::move(take)) {}

  /// `name`: name of the threads.
  void run(const std::string& name, size_t threads) {
    if (threads < 2) {
      while (auto item = next_()) take_(work_(std::move(*item)));
      return;
    }
    most_ahead_ = 3 * threads;
    ThreadPool pool(name, threads, [this](size_t, const std::stop_token& stop) { loop(stop); });
    pool.join();
    pool.rethrow();
  }

 private:
  void loop(const std::stop_token& stop) {
    while (true) {
      std::optional<Item> item;
      size_t place = 0;
      {
        std::unique_lock lock(of_next_);
        if (!may_go_on_.wait(lock, stop, [this] { return given_ - taken_ < most_ahead_; })) return;
        item = next_();
        place = given_++;
      }
      if (!item) return;
      give_back(place, work_(std::move(*item)), stop);
    }
  }

  /// One thread at a time takes the next result, while the others work.
  void give_back(size_t place, Result result, const std::stop_token& stop) {
    std::unique_lock lock(of_results_);
    results_.emplace(place, std::move(result));
    if (is_taking_) return;
    is_taking_ = true;
    for (auto first = results_.begin();
         first != results_.end() && first->first == next_to_take_ && !stop.stop_requested();
         first = results_.begin()) {
      auto node = results_.extract(first);
      ++next_to_take_;
      lock.unlock();
      take_(std::move(node.mapped()));
      {
        const std::lock_guard of_next(of_next_);
        ++taken_;
      }
      may_go_on_.notify_all();
      lock.lock();
    }
    is_taking_ = false;
  }

  Next next_;
  Work work_;
  Take take_;
  size_t most_ahead_ = 0;
  std::mutex of_next_;
  std::condition_variable_any may_go_on_;
  size_t given_ = 0;
  size_t taken_ = 0;
  std::mutex of_results_;
  std::map<size_t, Result> results_;  // by index, until they are taken
  size_t next_to_take_ = 0;
  bool is_taking_ = false;
};

}  // namespace tpack
