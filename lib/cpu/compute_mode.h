#pragma once

#include <csignal>

#include "cpu/denormals.h"

namespace tpack::cpu {

/// While it exists, this thread may run kernels: denormals are zero, and no signal handler runs on it. The
/// products of oneDNN (gemm) let the stack pointer point into a buffer on the heap, so that the frame of a
/// handler would destroy the data before that buffer. Signals wait or go to other threads; faults (SIGSEGV
/// and the like) are delivered as usual.
class ComputeMode {
 public:
  ComputeMode();
  ~ComputeMode();
  ComputeMode(const ComputeMode&) = delete;
  ComputeMode& operator=(const ComputeMode&) = delete;

 private:
  FlushDenormals flush_;
  sigset_t before_;
};

}  // namespace tpack::cpu
