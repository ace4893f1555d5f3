#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cpu/kernel.h"
#include "tensor/memory.h"

namespace tpack::cpu {

/// One timed run of a kernel; `interrupted` if one of its threads lost its processor meanwhile.
struct TimedRun {
  double seconds = 0;
  bool interrupted = false;
};

/// One way to run a node, prepared to be timed.
struct TimedKernel {
  std::function<TimedRun()> run;  // computes `share` of the batch
  double share = 1;
  uint64_t scratch_bytes = 0;  // for the whole batch
};

/// Prepares a way; nothing if this CPU does not have it. Errors: ResourceError if there is no memory for it.
using PrepareTimed = std::function<std::optional<TimedKernel>(const KernelRequest& request, Team& team)>;

/// Prepares kernels to be timed, on memory that they share. Of a large batch a few images are enough: a
/// kernel takes the same time for each, but for what it does once with its weights.
/// The kernels must not outlive it. Threads: one at a time.
class KernelTimer {
 public:
  /// See PrepareTimed.
  std::optional<TimedKernel> prepare(const KernelRequest& request, Team& team);

 private:
  /// Memory that grows. Filled with small numbers: zeros and denormals would give other timings, and pages
  /// that are touched for the first time, too.
  class Block {
   public:
    void reserve(uint64_t bytes);
    std::byte* data() const { return storage_->data(); }

   private:
    std::shared_ptr<Storage> storage_;
  };

  Block inputs_;  // only read, so that the numbers in it stay small
  Block outputs_;
};

/// How many images of a request's batch are timed; all of a batch that is computed quickly.
int64_t images_to_time(const KernelRequest& request);

}  // namespace tpack::cpu
