#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tpack {

/// A value in the line.
struct ProgressValue {
  const char* name = nullptr;
  double value = 0;
};

/// The progress of an epoch.
struct Progress {
  int64_t epoch = 0;
  int64_t steps = 0;        // done in this epoch
  int64_t total_steps = 0;  // of this epoch
  double rate = 0;          // steps per second; 0 if still unknown
  std::span<const ProgressValue> values = {};
};

/// Writes "epoch 3: 120/469 (26 %), 85.1 steps/s, 4 s left, cost 0.1234, accuracy 0.98" into the buffer and
/// returns it. Values that do not fit are omitted, other text is truncated. Allocates nothing.
std::string_view progress_line(const Progress& progress, std::span<char> buffer);

}  // namespace tpack
