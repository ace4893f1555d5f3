#include "support/allocation_counter.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <execinfo.h>
#include <malloc.h>
#include <unistd.h>

// glibc's own names for its allocator: malloc and related functions are replaced for the whole test program.
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

std::array<tpack::RecordedAllocation, tpack::kMaxRecordedAllocations>
    records;  // static: nothing is allocated while recording
std::atomic<size_t> recorded{0};
std::atomic<pid_t> recording{0};          // the thread whose requests are all recorded; 0: none
thread_local bool inside_record = false;  // walking the stack may allocate

void record(size_t size, pid_t watched) {
  if (inside_record || (size < tpack::kLargeAllocation && gettid() != watched)) return;
  inside_record = true;
  const size_t place = recorded.fetch_add(1);
  if (place < records.size()) {
    tpack::RecordedAllocation& made = records[place];
    made.thread = gettid();
    made.bytes = size;
    made.depth = backtrace(made.stack.data(), static_cast<int>(made.stack.size()));
  }
  inside_record = false;
}

void* counted(void* block, size_t size) {
  if (const pid_t watched = recording.load(std::memory_order_relaxed); watched != 0) record(size, watched);
  all.fetch_add(1, std::memory_order_relaxed);
  if (size >= tpack::kLargeAllocation) large.fetch_add(1, std::memory_order_relaxed);
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

void start_recording_allocations() {
  std::array<void*, 4> stack{};
  backtrace(stack.data(), static_cast<int>(stack.size()));  // its first call loads a library
  recorded = 0;
  recording = gettid();
}
std::span<const RecordedAllocation> stop_recording_allocations() {
  recording = 0;
  return {records.data(), std::min(recorded.load(), records.size())};
}

}  // namespace tpack
