#include "parallel/tower_threads.h"

#include <algorithm>
#include <memory>
#include <pthread.h>
#include <system_error>

#include <hwloc.h>

#include "core/error.h"
#include "core/spin_then_yield.h"
#include "system/log.h"

namespace tpack {
namespace {

using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;

void pin(const std::vector<int>& processors) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return;
  const Topology topology(raw, hwloc_topology_destroy);
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  for (const int processor : processors) hwloc_bitmap_set(set, static_cast<unsigned>(processor));
  const bool bound = hwloc_topology_load(raw) == 0 && hwloc_set_cpubind(raw, set, HWLOC_CPUBIND_THREAD) == 0;
  hwloc_bitmap_free(set);
  if (!bound)
    log::warning("the thread of a tower cannot be bound to its processors; the system chooses where it runs");
}

}  // namespace

void bind_this_thread(const std::vector<int>& processors, const std::string& name) {
  if (!name.empty()) pthread_setname_np(pthread_self(), name.c_str());
  if (!processors.empty()) pin(processors);
}

TowerThreads::TowerThreads(const std::vector<std::vector<int>>& processors) : count_(processors.size()) {
  if (count_ == 1) return;
  try {
    for (size_t tower = 0; tower < count_; ++tower) {
      threads_.emplace_back([this, tower, own = processors[tower]] {
        bind_this_thread(own, "tower" + std::to_string(tower));
        loop(tower);
      });
    }
  } catch (const std::system_error& failure) {
    end();
    throw ResourceError("cannot start the thread of tower " + std::to_string(threads_.size()) + " of " +
                        std::to_string(count_) + ": " + failure.what());
  }
}

TowerThreads::~TowerThreads() { end(); }

void TowerThreads::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TowerThreads::run(const std::function<void(size_t)>& work, const std::function<void(size_t)>& on_error) {
  if (threads_.empty()) return work(0);
  std::unique_lock lock(mutex_);
  work_ = &work;
  on_error_ = &on_error;
  error_ = nullptr;
  running_ = count_;
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return running_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

void TowerThreads::loop(size_t tower) {
  uint64_t done = 0;
  while (true) {
    for (SpinThenYield wait; round_.load(std::memory_order_acquire) == done && wait.next();) continue;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || round_ != done; });
      if (ending_) return;
      done = round_;
    }
    run_one(tower);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_all();
  }
}

void TowerThreads::run_one(size_t tower) {
  try {
    (*work_)(tower);
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    (*on_error_)(tower);
  }
}

std::vector<std::vector<int>> divide_processors(const std::vector<int>& processors, size_t towers) {
  if (processors.size() < towers) {
    throw ResourceError(std::to_string(towers) +
                        " towers need at least as many processors; this process may use " +
                        std::to_string(processors.size()));
  }
  const size_t each = processors.size() / towers;
  std::vector<std::vector<int>> parts;
  for (size_t k = 0; k < towers; ++k) {
    const auto begin = processors.begin() + static_cast<std::ptrdiff_t>(each * k);
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(each));
  }
  return parts;
}

int threads_of_each_tower(size_t available, size_t towers) {
  return static_cast<int>(std::max<size_t>(1, available / towers));
}

}  // namespace tpack
