#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

namespace tpack {

constexpr size_t kLargeAllocation = 4096;  // bytes

/// What all threads have requested from the heap since the last `reset_allocations`.
struct Allocations {
  int64_t count = 0;
  int64_t large = 0;  // of kLargeAllocation or more
  int64_t live_bytes = 0;
};
/// False in builds with a sanitizer.
bool allocations_are_counted();
void reset_allocations();
Allocations allocations();

/// One request to the heap: which thread made it, and the stack, innermost call first.
struct RecordedAllocation {
  pid_t thread = 0;
  size_t bytes = 0;
  std::array<void*, 24> stack = {};
  int depth = 0;
};
constexpr size_t kMaxRecordedAllocations = size_t{1} << 15U;

/// From now on, all requests of the calling thread and large requests of other threads are recorded, as long
/// as there is room for them.
void start_recording_allocations();
/// Stops recording; returns the records, which are valid until the next start.
std::span<const RecordedAllocation> stop_recording_allocations();

}  // namespace tpack
