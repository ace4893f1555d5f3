#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/error.h"

namespace tpack {

class Storage;

/// The memory of tensor elements: of the host, or of a device with its own memory. Such a device implements
/// this and passes it to its VariableStore. Copies come after the work that was submitted to the device
/// before, and are complete when they return. Must outlive its blocks. Threads: as for the device's programs.
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

/// Errors: ResourceError if a block of `bytes` bytes on the host is more than this process can get, as far as
/// the kernel reports; promised blocks that are not written yet count.
void require_memory(size_t bytes);

/// A block of bytes in some memory (64-byte aligned on the host), or a window into bytes with another owner.
class Storage {
 public:
  /// A block on the host. Errors: ResourceError if there is not enough memory.
  static std::shared_ptr<Storage> allocate(size_t bytes);
  /// Zeros on the host; large blocks take memory only as they are written to. Errors: as above.
  static std::shared_ptr<Storage> allocate_zeros(size_t bytes);
  /// A window on the host; `owner` keeps the bytes alive (null for bytes that are never freed).
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
  /// The address of the bytes in their memory; only for the device that owns it.
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
