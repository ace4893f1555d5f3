#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "comm/comm.h"
#include "tensor/tensor.h"

namespace tpack {

/// Comm::all_reduce_sum of an array of floats of either size; doubles are not compressed.
void all_reduce_sum(Comm& comm, const Tensor& values, const char* stage, Compression compression);
/// Likewise Comm::reduce_sum.
void reduce_sum(Comm& comm, const Tensor& values, const char* stage, Compression compression);

/// A thread that sums arrays over the members of a group, in the order of the starts, while its owner
/// computes. Every member starts the same sums in the same order. The group must not be used otherwise from
/// the first `start` to the end of `wait`. Threads: one caller at a time.
class BackgroundReducer {
 public:
  explicit BackgroundReducer(Comm& comm, Compression compression = Compression::kNone);
  /// Aborts sums in progress.
  ~BackgroundReducer();
  BackgroundReducer(const BackgroundReducer&) = delete;
  BackgroundReducer& operator=(const BackgroundReducer&) = delete;

  /// Sums an array of floats in place, on the host; others must not use it until `wait` returns.
  /// `compressed`: use the compression of the reducer; false: exact.
  void start(const Tensor& values, const char* stage, bool compressed = true);
  /// Waits until all sums are done. Errors: those of Comm, after which the reducer cannot be used.
  void wait();

 private:
  struct Task {
    Tensor values;
    const char* stage = "";
    Compression compression = Compression::kNone;
  };

  std::optional<Sum> next();
  void loop();

  Comm& comm_;
  Compression compression_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Task> tasks_;  // of this round
  size_t begun_ = 0;         // tasks of this round
  size_t done_ = 0;          // of them
  bool ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace tpack
