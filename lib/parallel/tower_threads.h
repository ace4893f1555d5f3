#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tpack {

/// One thread per tower, each pinned to its processors, that run the same function in parallel and wait for
/// each other. With one tower, the caller's thread does the work. Threads: one caller.
class TowerThreads {
 public:
  /// `processors` of each tower; empty lists are not pinned.
  explicit TowerThreads(const std::vector<std::vector<int>>& processors);
  ~TowerThreads();
  TowerThreads(const TowerThreads&) = delete;
  TowerThreads& operator=(const TowerThreads&) = delete;

  size_t size() const { return count_; }
  /// Calls work(k) on the thread of each tower k and returns when all are done. If work throws, `on_error(k)`
  /// is called immediately on its thread, so that the others do not wait for it. Errors: the first one
  /// thrown.
  void run(const std::function<void(size_t)>& work, const std::function<void(size_t)>& on_error);

 private:
  void end();
  void loop(size_t tower);
  void run_one(size_t tower);

  size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(size_t)>* work_ = nullptr;
  const std::function<void(size_t)>* on_error_ = nullptr;
  std::exception_ptr error_;
  std::atomic<uint64_t> round_ = 0;  // changed with the lock
  size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

/// Names the calling thread (unless the name is empty) and binds it to processors, if there are any; logs a
/// warning if the system refuses.
void bind_this_thread(const std::vector<int>& processors, const std::string& name);

/// Divides `processors` among `towers` in order, the same number for each; the remainder is not used. Errors:
/// ResourceError if there are fewer processors than towers.
std::vector<std::vector<int>> divide_processors(const std::vector<int>& processors, size_t towers);

/// Threads of each tower if `available` may run at the same time: the affinity mask, limited by the cgroup's
/// quota (available_processors). The same number for each, because towers share one plan and a plan is for
/// one number of threads; at least 1.
int threads_of_each_tower(size_t available, size_t towers);

}  // namespace tpack
