#pragma once

#include <cstdint>

namespace tpack::cpu {

/// While it exists, this thread treats denormal numbers as zero. They appear in any long training (Adam's
/// moments of a unit that died, gradients of a batch that is learned by heart), each operation on one costs
/// over a hundred cycles, and no result that anyone looks at depends on them.
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
