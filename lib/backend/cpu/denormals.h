#pragma once

#include <cstdint>

namespace tpack::cpu {

/// While it lives, this thread and its OpenMP team take denormal numbers for zero. They appear in any long
/// training (Adam's moments of a unit that died, gradients of a batch that is learnt by heart), each
/// operation on one costs over a hundred cycles, and no result that anyone looks at depends on them.
/// Afterwards this thread is as it was; its team's other threads work for executables only and stay.
class FlushDenormals {
 public:
  explicit FlushDenormals(int threads);
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint32_t before_;
};

}  // namespace tpack::cpu
