#include "tensor/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "core/text.h"
#include "system/machine.h"

namespace tpack {
namespace {

class HostMemory final : public Memory {
 public:
  const std::string& name() const override { return name_; }
  std::shared_ptr<Storage> allocate_zeros(size_t bytes) override { return Storage::allocate_zeros(bytes); }
  void read(std::byte* to, const std::byte* from, size_t bytes) override { copy(to, from, bytes); }
  void write(std::byte* to, const std::byte* from, size_t bytes) override { copy(to, from, bytes); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

 private:
  std::string name_ = "host";
};

constexpr size_t kLargeBlock = size_t{16} << 20U;
std::atomic<uint64_t> bytes_of_large_blocks = 0;

void count_block(void* data, size_t bytes) {
  if (bytes < kLargeBlock) return;
  bytes_of_large_blocks += bytes;
  prefer_large_pages(data, bytes);
}
void forget_block(size_t bytes) {
  if (bytes >= kLargeBlock) bytes_of_large_blocks -= bytes;
}

}  // namespace

Memory& host_memory() {
  static auto& host = *new HostMemory();  // never destroyed: storages may be in static objects
  return host;
}

/// The kernel promises more memory than it has, and ends the process later, on a write. So large blocks are
/// checked here, together with promised blocks that are not written yet.
void require_memory(size_t bytes) {
  if (bytes < kLargeBlock) return;
  const std::string what = "not enough memory for a tensor of " + human_bytes(bytes) + "; ";
  if (const auto mappable = mappable_memory(); mappable && bytes > *mappable)
    throw ResourceError(what + "the limit of this process (ulimit -v) leaves " + human_bytes(*mappable));
  const auto free = available_memory();
  if (!free) return;
  const uint64_t blocks = bytes_of_large_blocks;
  const uint64_t written = anonymous_memory();
  const uint64_t promised = blocks > written ? blocks - written : 0;
  if (bytes + promised > *free)
    throw ResourceError(what + human_bytes(*free - std::min(promised, *free)) + " is free");
}

std::shared_ptr<Storage> Storage::allocate(size_t bytes) {
  require_memory(bytes);
  constexpr size_t kAlignment = 64;
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data == nullptr) throw ResourceError("not enough memory for a tensor of " + human_bytes(bytes));
  count_block(data, bytes);
  return std::make_shared<Storage>(data, bytes, std::shared_ptr<const void>(data, [bytes](std::byte* p) {
                                     std::free(p);
                                     forget_block(bytes);
                                   }));
}

std::shared_ptr<Storage> Storage::allocate_zeros(size_t bytes) {
  constexpr size_t kMinToMap = size_t{128} << 10U;
  if (bytes < kMinToMap) {
    auto storage = allocate(bytes);
    std::memset(storage->data(), 0, bytes);
    return storage;
  }
  require_memory(bytes);
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw ResourceError("not enough memory for a tensor of " + human_bytes(bytes));
  count_block(data, bytes);
  return std::make_shared<Storage>(static_cast<std::byte*>(data), bytes,
                                   std::shared_ptr<const void>(data, [bytes](void* p) {
                                     munmap(p, bytes);
                                     forget_block(bytes);
                                   }));
}

std::shared_ptr<Storage> Storage::view(std::byte* data, size_t bytes, std::shared_ptr<const void> owner) {
  return std::make_shared<Storage>(data, bytes, std::move(owner));
}

}  // namespace tpack
