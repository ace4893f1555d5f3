#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/error.h"

namespace tpack {

class Storage;

/// Where the elements of tensors are: the memory of the host, or of a device that has its own. A device with
/// its own memory implements this and gives it to its VariableStore. Must outlive its blocks. Threads: as the
/// device's programs.
class Memory {
 public:
  virtual ~Memory() = default;
  /// "host", "gpu:0".
  virtual const std::string& name() const = 0;
  /// A block of zeros. Errors: ResourceError if there is not enough memory.
  virtual std::shared_ptr<Storage> allocate_zeros(size_t bytes) = 0;
  /// Copies from an address of this memory to the host.
  virtual void read(std::byte* to, const std::byte* from, size_t bytes) = 0;
  /// Copies from the host to an address of this memory.
  virtual void write(std::byte* to, const std::byte* from, size_t bytes) = 0;
  /// Copies within this memory; the ranges do not overlap.
  virtual void copy(std::byte* to, const std::byte* from, size_t bytes) = 0;
};

/// The memory of this process.
Memory& host_memory();

/// Errors: ResourceError if a block of so many bytes on the host is more than this process can get, as far as
/// the kernel tells; blocks that were promised and not written to yet count.
void require_memory(size_t bytes);

/// A block of bytes in some memory, on the host 64-byte aligned, or a window into bytes that something else
/// owns.
class Storage {
 public:
  /// A block on the host. Errors: ResourceError if there is not enough memory.
  static std::shared_ptr<Storage> allocate(size_t bytes);
  /// Zeros on the host; large blocks take memory only as they are written to. Errors: as above.
  static std::shared_ptr<Storage> allocate_zeros(size_t bytes);
  /// A window on the host; `owner` keeps the bytes alive (may be null for bytes that outlive everything).
  static std::shared_ptr<Storage> view(std::byte* data, size_t bytes, std::shared_ptr<const void> owner);

  Storage(std::byte* address, size_t bytes, std::shared_ptr<const void> owner, Memory& memory = host_memory())
      : address_(address),
        bytes_(bytes),
        owner_(std::move(owner)),
        memory_(memory),
        on_host_(&memory == &host_memory()) {}
  Memory& memory() const { return memory_; }
  bool on_host() const { return on_host_; }
  /// Errors: InternalError if the bytes are not on the host.
  std::byte* data() const {
    TPACK_ASSERT(on_host_, "the host cannot use the memory of " + memory_.name());
    return address_;
  }
  /// Where the bytes are in their memory; only for the device that owns it.
  std::byte* address() const { return address_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* address_;
  size_t bytes_;
  std::shared_ptr<const void> owner_;
  Memory& memory_;
  bool on_host_;
};

}  // namespace tpack
