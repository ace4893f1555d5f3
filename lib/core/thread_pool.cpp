#include "core/thread_pool.h"

#include <pthread.h>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace tpack {

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

}  // namespace tpack
