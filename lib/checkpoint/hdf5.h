#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <hdf5.h>

#include "tensor/dtype.h"

// Common parts of saving and loading with libhdf5's C interface. Callers hold hdf5_mutex().
namespace tpack::hdf5 {

/// Owns one identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  hid_t get() const { return id_; }
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_;
  Close close_;
};

/// Stops libhdf5 from printing, from loading filters as plugins, and from closing files at the exit of the
/// process. Call before the first use; repeated calls
/// are harmless.
void prepare();

/// libhdf5's reason for the failure of the last call; may be empty.
std::string cause_of_failure();

/// Passes a result on. Errors: CheckpointError "PATH: WHAT: cause" if it is negative.
template <class T>
T checked(T result, const std::string& path, const char* what);
[[noreturn]] void fail(const std::string& path, const char* what);

template <class T>
T checked(T result, const std::string& path, const char* what) {
  if (result < 0) fail(path, what);
  return result;
}

/// The element type in the file and in memory (little-endian; bool as in h5py).
Handle file_type(DType type);
/// The type of a string of exactly that many bytes (at least 1), UTF-8, padded with NUL.
Handle text_type(size_t bytes);

constexpr const char* kDigestName = "xxh3_128";

/// The bytes of an HDF5 file in memory: libhdf5 writes into them, and keeps them when the file is closed.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Access properties for H5Fcreate.
  Handle access();
  /// The bytes written by libhdf5; valid after the file is closed. `bytes` is the length of the file.
  std::string_view content(size_t bytes) const { return {static_cast<const char*>(buffer_), bytes}; }

 private:
  static void* resize(void* buffer, size_t bytes, H5FD_file_image_op_t operation, void* self);
  static herr_t keep(void* buffer, H5FD_file_image_op_t operation, void* self);

  void* buffer_ = nullptr;
};

}  // namespace tpack::hdf5
