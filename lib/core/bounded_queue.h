#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace tpack {

/// FIFO of at most `capacity` items between threads, with an end and an error that travel behind the items.
/// Threads: any number of producers and consumers.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False where the queue was closed or `stop` was requested; the item is then dropped.
  bool push(T item, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_ || stop.stop_requested()) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }
  /// Waits for an item. Empty at the end (closed and drained) or where `stop` was requested.
  /// Errors: rethrows what `fail` was given, after the items pushed before it.
  std::optional<T> pop(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) {
      if (error_ && !stop.stop_requested()) std::rethrow_exception(error_);
      return std::nullopt;
    }
    if (stop.stop_requested()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_.notify_all();
    return item;
  }
  /// No more items will come; waiting producers and consumers wake. Closing twice is fine.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Closes with an error for the consumer; the first one counts.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    closed_ = true;
    changed_.notify_all();
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  size_t capacity() const { return capacity_; }

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> items_;
  std::exception_ptr error_;
  bool closed_ = false;
};

}  // namespace tpack
