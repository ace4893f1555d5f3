#include "comm/background_reducer.h"

#include <pthread.h>
#include <string>
#include <system_error>
#include <variant>

#include "core/error.h"

namespace tpack {
namespace {

std::variant<std::span<float>, std::span<double>> floats_of(const Tensor& values) {
  if (values.dtype() == DType::kFloat64) return values.span<double>();
  return values.span<float>();
}

}  // namespace

void all_reduce_sum(Comm& comm, const Tensor& values, const char* stage, Compression compression) {
  if (values.dtype() == DType::kFloat64) {
    comm.all_reduce_sum(values.span<double>(), stage);
  } else {
    comm.all_reduce_sum(values.span<float>(), stage, compression);
  }
}

void reduce_sum(Comm& comm, const Tensor& values, const char* stage, Compression compression) {
  if (values.dtype() == DType::kFloat64) {
    comm.reduce_sum(values.span<double>(), stage);
  } else {
    comm.reduce_sum(values.span<float>(), stage, compression);
  }
}

BackgroundReducer::BackgroundReducer(Comm& comm, Compression compression)
    : comm_(comm), compression_(compression) {
  constexpr size_t kMaxTasks = 64;  // rounds with more tasks allocate once
  tasks_.reserve(kMaxTasks);
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& failure) {
    throw ResourceError(std::string("cannot start a thread that sums gradients: ") + failure.what());
  }
}

BackgroundReducer::~BackgroundReducer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (done_ < tasks_.size()) comm_.cancel();
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundReducer::start(const Tensor& values, const char* stage, bool compressed) {
  comm_.set_urgent(false);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({values, stage, compressed ? compression_ : Compression::kNone});
  }
  changed_.notify_all();
}

void BackgroundReducer::wait() {
  comm_.set_urgent(true);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ == tasks_.size() || error_; });
  if (error_) std::rethrow_exception(error_);
  tasks_.clear();
  begun_ = done_ = 0;
}

std::optional<Sum> BackgroundReducer::next() {
  const std::lock_guard lock(mutex_);
  if (begun_ == tasks_.size()) return std::nullopt;
  const Task& task = tasks_[begun_++];
  return Sum{floats_of(task.values), task.stage, task.compression};
}

void BackgroundReducer::loop() {
  pthread_setname_np(pthread_self(), "reducer");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || (begun_ < tasks_.size() && !error_); });
    if (ending_) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      comm_.all_reduce_sums([this] { return next(); });
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) error_ = error;
    if (!error) done_ = begun_;
    changed_.notify_all();
  }
}

}  // namespace tpack
