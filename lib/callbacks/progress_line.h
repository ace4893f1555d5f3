#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tpack {

/// How far an epoch has got.
struct Progress {
  int64_t epoch = 0;
  int64_t steps = 0;           // done in this epoch
  int64_t total_steps = 0;     // of this epoch
  double rate = 0;             // steps a second; 0 where it is not known yet
  const char* name = nullptr;  // of `value`, "cost"; null where there is none
  double value = 0;
};

/// Writes "epoch 3: 120/469 (26 %), 85.1 steps/s, 4 s left, cost 0.1234" into the buffer and returns it; cut
/// off where the buffer is too small. Allocates nothing.
std::string_view progress_line(const Progress& progress, std::span<char> buffer);

}  // namespace tpack
