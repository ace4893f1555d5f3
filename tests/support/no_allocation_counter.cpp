// For builds with a sanitizer, which has an allocator of its own.
#include "dataflow/allocation_counter.h"

namespace tpack {

void reset_allocations() {}
bool allocations_are_counted() { return false; }
Allocations allocations() { return {}; }

}  // namespace tpack
