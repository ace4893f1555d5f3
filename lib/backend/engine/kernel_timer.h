#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "backend/engine/kernel.h"
#include "tensor/memory.h"

namespace tpack {

/// One measured run of a kernel; `interrupted` if one of its threads lost its processor meanwhile.
struct TimedRun {
  double seconds = 0;
  bool interrupted = false;
};

/// One way to run a node, prepared for measuring.
struct TimedKernel {
  std::function<TimedRun()> run;  // computes `share` of the batch
  double share = 1;
  uint64_t scratch_bytes = 0;  // for the whole batch
};

/// Prepares a way; empty if this hardware does not have it. Errors: ResourceError if there is not enough
/// memory.
using PrepareTimed =
    std::function<std::optional<TimedKernel>(const KernelRequest& request, KernelQueue& queue)>;

/// Prepares kernels for measuring, on blocks of common memory. A few images of a large batch are enough: a
/// kernel takes the same time for each, except for work on its weights. The kernels must not outlive it, nor
/// it the library. Threads: one at a time.
class KernelTimer {
 public:
  KernelTimer(const KernelLibrary& library, Memory& memory)
      : library_(library), inputs_(memory), outputs_(memory) {}
  /// See PrepareTimed.
  std::optional<TimedKernel> prepare(const KernelRequest& request, KernelQueue& queue);

 private:
  /// Growing memory, filled with small numbers: zeros, denormals and untouched pages would change the
  /// timings.
  class Block {
   public:
    explicit Block(Memory& memory) : memory_(memory) {}
    void reserve(uint64_t bytes);
    std::byte* data() const { return storage_->address(); }

   private:
    Memory& memory_;
    std::shared_ptr<Storage> storage_;
  };

  const KernelLibrary& library_;
  Block inputs_;  // only read, so that the numbers in it stay small
  Block outputs_;
};

/// The number of measured images of a request's batch; all of a fast batch.
int64_t images_to_time(const KernelRequest& request);

}  // namespace tpack
