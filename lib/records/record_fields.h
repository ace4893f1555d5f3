#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/format/npy.h"
#include "tensor/tensor.h"

namespace tpack {

/// A value in a record, as it lies in the file.
struct RecordValue {
  enum class Kind : uint8_t { kBytes, kText, kArray, kOther };
  Kind kind = Kind::kOther;
  /// kBytes and kText; the elements of kArray.
  std::span<const uint8_t> bytes = {};
  const NpyType* type = nullptr;  // of the elements of kArray
  Shape shape = {};               // of kArray; [] for a number
  bool is_fortran = false;        // kArray: the first axis is the fastest
  std::string what = {};          // of kOther, for messages: "a list of 3 texts"

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  /// "JPEG 640x480", "text 'cat'", "int64 []": for messages.
  std::string describe() const;
};

/// The fields of one record by name, in the order of the file. Filled again for each record. Threads: one at
/// a time.
class RecordFields {
 public:
  struct Field {
    std::string_view name;
    RecordValue value;
  };

  void clear();
  void add(std::string_view name, RecordValue value) { fields_.push_back({name, std::move(value)}); }
  /// Memory that lives as long as the fields.
  std::string& text() { return texts_.emplace_back(); }
  std::vector<uint8_t>& bytes(size_t size);
  /// Keeps an object as long as the fields.
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  /// The bytes of the record itself: memory that is used again.
  std::vector<uint8_t>& buffer() { return buffer_; }
  /// Whether these bytes are a part of it.
  bool is_in_buffer(std::span<const uint8_t> bytes) const {
    return !buffer_.empty() && bytes.data() >= buffer_.data() &&
           bytes.data() + bytes.size() <= buffer_.data() + buffer_.size();
  }

  const RecordValue* find(std::string_view name) const;
  const std::vector<Field>& all() const { return fields_; }
  /// "image (JPEG 640x480), label (int64 [])".
  std::string describe() const;

 private:
  std::vector<Field> fields_;
  std::deque<std::string> texts_;
  std::deque<std::vector<uint8_t>> blocks_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<uint8_t> buffer_;
};

}  // namespace tpack
