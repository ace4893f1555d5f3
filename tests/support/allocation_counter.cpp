#include "dataflow/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <malloc.h>

// glibc's own names for its allocator: malloc and friends are replaced for the whole test program.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace {

std::atomic<int64_t> all{0};
std::atomic<int64_t> large{0};
std::atomic<int64_t> live{0};

void* counted(void* block, size_t size) {
  constexpr size_t kLarge = 4096;
  all.fetch_add(1, std::memory_order_relaxed);
  if (size >= kLarge) large.fetch_add(1, std::memory_order_relaxed);
  if (block != nullptr)
    live.fetch_add(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  return block;
}
void uncount(void* block) {
  if (block != nullptr)
    live.fetch_sub(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

}  // namespace

extern "C" {
void* malloc(size_t size) { return counted(__libc_malloc(size), size); }
void* calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size), count * size); }
void* realloc(void* block, size_t size) {
  uncount(block);
  return counted(__libc_realloc(block, size), size);
}
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), size); }
void* aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = counted(__libc_memalign(alignment, size), size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  uncount(block);
  __libc_free(block);
}
}

namespace tpack {

void reset_allocations() {
  all = 0;
  large = 0;
  live = 0;
}
bool allocations_are_counted() { return true; }
Allocations allocations() { return {all.load(), large.load(), live.load()}; }

}  // namespace tpack
