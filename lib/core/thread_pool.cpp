#include "core/thread_pool.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace tpack {
namespace {

/// CPUs that a cgroup (version 2, then 1) allows, 0 for no limit.
double cgroup_processors() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" || period <= 0 ? 0 : std::stod(quota) / period;
  }
  double limit = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> limit && period_file >> period && limit > 0 && period > 0) return limit / period;
  return 0;
}

}  // namespace

ThreadPool::ThreadPool(const std::string& name, size_t count, Loop loop) : loop_(std::move(loop)) {
  threads_.reserve(count);
  try {
    for (size_t worker = 0; worker < count; ++worker) {
      threads_.emplace_back([this, name, worker] { run(name, worker); });
    }
  } catch (const std::system_error& failure) {
    request_stop();
    join();
    throw ResourceError("cannot start thread " + std::to_string(threads_.size() + 1) + " of " +
                        std::to_string(count) + " '" + name + "': " + failure.what());
  }
}

ThreadPool::~ThreadPool() {
  request_stop();
  join();
}

void ThreadPool::request_stop() noexcept { stop_.request_stop(); }

void ThreadPool::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ThreadPool::rethrow() const {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::run(const std::string& name, size_t worker) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  try {
    loop_(worker, stop_.get_token());
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    stop_.request_stop();
  }
}

size_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  size_t count = std::max(1U, std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = static_cast<size_t>(CPU_COUNT(&set));
  const double limit = cgroup_processors();
  if (limit > 0) count = std::min(count, static_cast<size_t>(std::ceil(limit)));
  return std::max<size_t>(1, count);
}

}  // namespace tpack
