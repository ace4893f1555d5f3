#pragma once

#include <cstdint>

namespace tpack {

/// What all threads asked of the heap since the last `reset_allocations`.
struct Allocations {
  int64_t count = 0;
  int64_t large = 0;  // of 4 KB or more
  int64_t live_bytes = 0;
};
/// False in builds with a sanitizer.
bool allocations_are_counted();
void reset_allocations();
Allocations allocations();

}  // namespace tpack
