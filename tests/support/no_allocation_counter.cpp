// For builds with a sanitizer, which has its own allocator.
#include "support/allocation_counter.h"

namespace tpack {

void reset_allocations() {}
bool allocations_are_counted() { return false; }
Allocations allocations() { return {}; }
void start_recording_allocations() {}
std::span<const RecordedAllocation> stop_recording_allocations() { return {}; }

}  // namespace tpack
