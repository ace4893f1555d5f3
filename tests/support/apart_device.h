#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backend/open_device.h"

namespace tpack {

/// Memory at addresses that no program can read or write: an access ends the process with SIGSEGV. The bytes
/// are at `shadow(address)`, for the device alone.
class ApartMemory final : public Memory {
 public:
  explicit ApartMemory(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::shared_ptr<Storage> allocate_zeros(size_t bytes) override;
  void read(std::byte* to, const std::byte* from, size_t bytes) override;
  void write(std::byte* to, const std::byte* from, size_t bytes) override;
  void copy(std::byte* to, const std::byte* from, size_t bytes) override;

  /// Adds a kernel that runs when something waits for it, or reads or writes this memory.
  void submit(std::function<void()> kernel) { submitted_.push_back(std::move(kernel)); }
  void run_submitted();

  /// Where the bytes of a tensor in this memory are.
  static std::byte* shadow(const std::byte* address);

 private:
  std::string name_;
  std::deque<std::function<void()>> submitted_;
};

/// A device all of whose values are in an ApartMemory: the engine with reference kernels, which know where
/// the bytes are and run as late as possible. Nothing of the module `cpu` is in it.
std::unique_ptr<Device> make_apart_device(const std::string& name, const DeviceOptions& options);

}  // namespace tpack
