#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace tpack {

/// For std::async: without another thread, the work is done where its result is needed.
inline constexpr auto kThreadIfThereIsOne = std::launch::async | std::launch::deferred;

/// A fixed number of threads that each run the same loop until it returns or is asked to stop. The first
/// exception stops the others, and `rethrow` throws it. The destructor requests a stop and joins, so no
/// thread outlives the pool.
class ThreadPool {
 public:
  /// `loop(worker, stop)` runs once on each of `count` threads named `name` (15 characters are shown by
  /// tools). Errors: ResourceError if the system cannot start more threads.
  using Loop = std::function<void(size_t worker, const std::stop_token& stop)>;
  ThreadPool(const std::string& name, size_t count, Loop loop);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void request_stop() noexcept;
  /// Waits for all threads to return.
  void join();
  /// Throws the first error of any thread, if there was one.
  void rethrow() const;
  size_t size() const { return threads_.size(); }
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  void run(const std::string& name, size_t worker);

  Loop loop_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace tpack
