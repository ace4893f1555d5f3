#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// Reads attributes of texts from the bytes of an HDF5 file. libhdf5 1.10 trusts the lengths of texts that a
/// file declares, and writes beyond its buffers if they are wrong; here, they are checked.
///
/// Sources: HDF5 File Format Specification 3.0, sections III.E (global heap), IV.A.1 (object headers), IV.A.2
/// (messages 3, 1, 12 and 16). Offsets and lengths have 8 bytes.
class Hdf5Texts {
 public:
  /// `bytes`: of a file that begins with HDF5's signature; they must outlive it.
  Hdf5Texts(std::span<const uint8_t> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  /// The texts of an attribute, one or a list, of an object with its header at this address; nothing if it
  /// has no such attribute, or one of numbers, or one that is stored outside of the header. Errors: DataError
  /// if it is damaged.
  std::optional<std::vector<std::string>> find(uint64_t header, std::string_view name);

 private:
  struct Bytes;
  using Heap = std::map<uint64_t, std::string_view>;  // its objects, by index

  Bytes part(uint64_t address, uint64_t length) const;
  std::optional<std::vector<std::string>> in_old_header(uint64_t header, std::string_view name);
  std::optional<std::vector<std::string>> in_new_header(uint64_t header, std::string_view name);
  std::optional<std::vector<std::string>> in_attribute(std::string_view message, std::string_view name);
  std::vector<std::string> values(std::string_view type, std::string_view space, std::string_view data);
  std::string in_heap(uint64_t address, uint64_t index, uint64_t length);
  void count_work();

  std::span<const uint8_t> bytes_;
  std::string path_;
  std::map<uint64_t, Heap> heaps_;
  size_t work_ = 0;  // messages and objects that were looked at
};

}  // namespace tpack
