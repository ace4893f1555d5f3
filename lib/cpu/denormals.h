#pragma once

#include <cstdint>

namespace tpack::cpu {

/// While it exists, this thread treats denormal numbers as zero. They appear in any long training (Adam's
/// moments of a dead unit, gradients of a memorized batch), each operation on one costs over a hundred
/// cycles, and they make no visible difference to results.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint32_t before_;
};

}  // namespace tpack::cpu
