#pragma once

#include <cstdint>
#include <vector>

namespace tpack {

/// Bytes rounded up, so that the next block starts on a cache line.
inline uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// A buffer that lives from one step of a schedule to another (both included).
struct Lifetime {
  uint64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<uint64_t> offsets;  // of each buffer in the arena
  uint64_t bytes = 0;             // of the arena
};

/// Places buffers so that those that live at the same time do not overlap: largest first, each into the
/// lowest gap that fits best. Offsets are multiples of 64.
MemoryPlan plan_memory(const std::vector<Lifetime>& buffers);

}  // namespace tpack
