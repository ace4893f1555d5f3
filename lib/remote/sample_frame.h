#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/record_fields.h"

namespace tpack {

/// The description of a sample that another program sends: one line of JSON, {NAME: VALUE, ...}. A value is a
/// number, a bool, a list of numbers (of lists, ...), or a text; or it describes bytes that follow the line,
/// one after the other in the order of the names: {"bytes": N} (a file of an image) or {"dtype": "float32",
/// "shape": [2, 3]} (the elements of an array, little-endian, in C order).
class SampleFrame {
 public:
  static constexpr size_t kMostLineBytes = size_t{64} << 20U;
  static constexpr uint64_t kMostBytes = uint64_t{4} << 30U;

  /// Errors: DataError.
  explicit SampleFrame(std::string_view line);

  /// The number of bytes that follow.
  uint64_t following() const { return following_; }
  /// The bytes of each value that follows, in order.
  std::vector<uint64_t> parts() const;
  /// Adds the values, given all of the bytes that follow. The frame and the bytes must outlive the fields.
  void add_to(RecordFields& fields, std::span<const uint8_t> following) const;
  /// The same, with the bytes of each value that follows. Errors: DataError if their number or sizes differ.
  void add_to(RecordFields& fields, std::span<const std::span<const uint8_t>> parts) const;

 private:
  struct Value {
    std::string name;
    RecordValue value;
    std::shared_ptr<std::vector<uint8_t>> own;  // its bytes, if they are in the line
    uint64_t bytes = 0;                         // that follow
  };

  std::vector<Value> values_;
  uint64_t following_ = 0;
};

}  // namespace tpack
