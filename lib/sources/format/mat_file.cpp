#include "sources/format/mat_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include <libdeflate.h>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kMatHead = 128;

[[noreturn]] void damaged_mat(const std::string& what) { throw DataError("damaged MAT file: " + what); }

// Types of elements.
constexpr uint32_t kUInt32 = 6;
constexpr uint32_t kInt32 = 5;
constexpr uint32_t kMatrix = 14;
constexpr uint32_t kCompressed = 15;

// Classes of arrays.
constexpr uint8_t kCell = 1;
constexpr uint8_t kStruct = 2;
constexpr uint8_t kChar = 4;
constexpr uint8_t kFirstNumber = 6;
constexpr std::array kKinds = {"unknown", "cell",  "struct", "object", "char",  "sparse", "double", "single",
                               "int8",    "uint8", "int16",  "uint16", "int32", "uint32", "int64",  "uint64"};

template <class T, bool kSwapped>
T value_at(Bytes data, size_t i) {
  std::array<uint8_t, sizeof(T)> bytes{};
  std::copy_n(data.begin() + static_cast<ptrdiff_t>(i * sizeof(T)), sizeof(T), bytes.begin());
  if (kSwapped) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

using ReadNumber = double (*)(Bytes data, size_t i);

/// Reads numbers of an element type.
struct NumberType {
  size_t bytes = 0;
  ReadNumber read = nullptr;
};

template <class T>
NumberType number_type(bool is_swapped) {
  const auto read = []<bool kSwapped>() -> ReadNumber {
    return [](Bytes data, size_t i) { return static_cast<double>(value_at<T, kSwapped>(data, i)); };
  };
  return {sizeof(T), is_swapped ? read.template operator()<true>() : read.template operator()<false>()};
}

NumberType number_type(uint32_t type, bool is_swapped) {
  switch (type) {
    case 1:
      return number_type<int8_t>(is_swapped);
    case 2:
      return number_type<uint8_t>(is_swapped);
    case 3:
      return number_type<int16_t>(is_swapped);
    case 4:
      return number_type<uint16_t>(is_swapped);
    case kInt32:
      return number_type<int32_t>(is_swapped);
    case kUInt32:
      return number_type<uint32_t>(is_swapped);
    case 7:
      return number_type<float>(is_swapped);
    case 9:
      return number_type<double>(is_swapped);
    case 12:
      return number_type<int64_t>(is_swapped);
    case 13:
      return number_type<uint64_t>(is_swapped);
    default:
      damaged_mat("numbers of type " + std::to_string(type));
  }
}

/// A tag and its data.
struct MatElement {
  uint32_t type = 0;
  Bytes data;
};

/// Elements one after the other.
class MatElements {
 public:
  MatElements(Bytes bytes, bool is_swapped) : rest_(bytes), is_swapped_(is_swapped) {}

  bool is_swapped() const { return is_swapped_; }
  bool at_end() const { return rest_.empty(); }
  size_t bytes_left() const { return rest_.size(); }
  MatElement next() {
    if (rest_.size() < 8) damaged_mat("it ends early");
    const auto first = value(rest_);
    if (first > 0xFFFF) {  // up to 4 bytes in the tag itself
      const size_t size = first >> 16U;
      if (size > 4) damaged_mat("an element of a wrong size");
      const MatElement element{first & 0xFFFFU, rest_.subspan(4, size)};
      rest_ = rest_.subspan(8);
      return element;
    }
    const size_t size = value(rest_.subspan(4));
    rest_ = rest_.subspan(8);
    if (size > rest_.size()) damaged_mat("it ends early");
    const MatElement element{first, rest_.first(size)};
    const size_t padded = first == kCompressed ? size : (size + 7) / 8 * 8;
    rest_ = rest_.subspan(std::min(padded, rest_.size()));
    return element;
  }
  uint32_t value(Bytes at) const {
    return is_swapped_ ? value_at<uint32_t, true>(at, 0) : value_at<uint32_t, false>(at, 0);
  }

 private:
  Bytes rest_;
  bool is_swapped_;
};

std::string text_of(Bytes bytes) {
  const auto end = std::ranges::find(bytes, 0);
  return valid_utf8(std::string(bytes.begin(), end));
}

/// The characters of a text: bytes of UTF-8, or numbers of ISO 8859-1 or UTF-16.
std::string text_of(const MatElement& values, bool is_swapped) {
  constexpr uint32_t kUtf8 = 16;
  if (values.type == kUtf8)
    return valid_utf8({reinterpret_cast<const char*>(values.data.data()), values.data.size()});
  if (values.type == 17) return {};  // UTF-16 of several elements
  const NumberType type = number_type(values.type, is_swapped);
  std::string latin1;
  for (size_t i = 0; i < values.data.size() / type.bytes; ++i) {
    const double code = type.read(values.data, i);
    latin1 += code >= 0 && code < 256 ? static_cast<char>(static_cast<uint8_t>(code)) : '?';
  }
  return utf8_of_latin1(latin1);
}

/// The number of elements of an array; each takes at least `bytes_each` of the `left` bytes.
size_t checked_count(const std::vector<int64_t>& shape, size_t left, size_t bytes_each) {
  size_t count = 1;
  for (const int64_t side : shape) {
    if (side < 0) damaged_mat("a negative size");
    if (side == 0) return 0;
    if (count > left / bytes_each / static_cast<size_t>(side)) damaged_mat("it ends early");
    count *= static_cast<size_t>(side);
  }
  return count;
}

/// The remaining readable bytes.
struct MatLimits {
  size_t bytes = 0;
  size_t arrays = 1'000'000;
};

MatArray read_array(Bytes data, bool is_swapped, int depth, MatLimits& limits);

MatArray next_array(MatElements& elements, int depth, MatLimits& limits) {
  const MatElement element = elements.next();
  if (element.type != kMatrix) damaged_mat("an element of type " + std::to_string(element.type));
  return read_array(element.data, elements.is_swapped(), depth, limits);
}

std::vector<std::string> read_field_names(MatElements& elements) {
  const MatElement length = elements.next();
  const uint32_t bytes = length.data.size() == 4 ? elements.value(length.data) : 0;
  if (bytes < 1 || bytes > 1024) damaged_mat("a wrong length of names");
  const Bytes names = elements.next().data;
  std::vector<std::string> all;
  for (size_t at = 0; at + bytes <= names.size(); at += bytes)
    all.push_back(text_of(names.subspan(at, bytes)));
  return all;
}

void read_items(MatElements& elements, size_t per_element, int depth, MatLimits& limits, MatArray& array) {
  constexpr int kMostDepth = 16;
  constexpr size_t kLeastBytes = 8;  // of an item
  if (depth >= kMostDepth) throw DataError("a MAT file with arrays nested deeper than 16 levels");
  if (per_element == 0) return;
  const size_t count = checked_count(array.shape, elements.bytes_left() / per_element, kLeastBytes);
  for (size_t i = 0; i < count * per_element; ++i)
    array.items.push_back(next_array(elements, depth + 1, limits));
}

/// The content of a matrix; an empty one is an empty array.
MatArray read_array(Bytes data, bool is_swapped, int depth, MatLimits& limits) {
  if (limits.arrays-- == 0) throw DataError("a MAT file of more than 1,000,000 arrays");
  MatArray array{{}, "double", {0, 0}};
  if (data.empty()) return array;
  MatElements elements(data, is_swapped);
  const MatElement flags = elements.next();
  if (flags.type != kUInt32 || flags.data.size() < 4) damaged_mat("an array without flags");
  const auto word = elements.value(flags.data);
  const auto kind = static_cast<uint8_t>(word & 0xFFU);
  const bool is_complex = (word & 0x800U) != 0;
  const bool is_logical = (word & 0x200U) != 0;
  array.kind = is_logical ? "logical" : kKinds.at(kind < kKinds.size() ? kind : 0);
  const MatElement sides = elements.next();
  if (sides.type != kInt32) damaged_mat("an array without sizes");
  array.shape.clear();
  for (size_t at = 0; at + 4 <= sides.data.size(); at += 4)
    array.shape.push_back(static_cast<int32_t>(elements.value(sides.data.subspan(at))));
  array.name = text_of(elements.next().data);
  if (kind == kCell) {
    read_items(elements, 1, depth, limits, array);
  } else if (kind == kStruct) {
    array.fields = read_field_names(elements);
    read_items(elements, array.fields.size(), depth, limits, array);
  } else if (kind == kChar && array.shape.size() == 2 && array.shape[0] == 1) {
    array.text = text_of(elements.next(), elements.is_swapped());
  } else if (kind >= kFirstNumber && kind < kKinds.size() && !is_complex) {
    const MatElement values = elements.next();
    const NumberType type = number_type(values.type, elements.is_swapped());
    const size_t count = checked_count(array.shape, values.data.size(), type.bytes);
    if (count != values.data.size() / type.bytes)
      damaged_mat("an array whose size does not match its header");
    array.numbers = static_cast<int64_t>(count);
    array.data = values.data;
    array.read = type.read;
  }
  return array;
}

struct FreeMatInflater {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

std::vector<uint8_t> inflated(Bytes packed, size_t most, size_t most_megabytes) {
  const std::unique_ptr<libdeflate_decompressor, FreeMatInflater> tool(libdeflate_alloc_decompressor());
  if (tool == nullptr) throw ResourceError("no memory to read a MAT file");
  for (size_t room = std::min(most, 8 * packed.size() + 1024);; room = std::min(most, 4 * room)) {
    std::vector<uint8_t> out(room);
    size_t size = 0;
    const auto result =
        libdeflate_zlib_decompress(tool.get(), packed.data(), packed.size(), out.data(), room, &size);
    if (result == LIBDEFLATE_SUCCESS) {
      out.resize(size);
      return out;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) damaged_mat("invalid compressed data");
    if (room == most)
      throw DataError("a MAT file of more than " + std::to_string(most_megabytes) +
                      " MB when it is unpacked");
  }
}

}  // namespace

std::string MatArray::str() const {
  std::vector<std::string> sides;
  for (const int64_t side : shape) sides.push_back(std::to_string(side));
  return kind + " [" + join(sides, ", ") + "]" + (fields.empty() ? "" : " with " + join_first(fields));
}

const MatArray* MatArray::field(std::string_view field) const {
  const auto found = std::ranges::find(fields, field);
  if (found == fields.end() || items.size() != fields.size()) return nullptr;
  return &items[static_cast<size_t>(found - fields.begin())];
}

bool is_mat_file(std::span<const uint8_t> bytes) {
  constexpr std::string_view kSignature = "MATLAB ";
  return bytes.size() >= kMatHead && std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) == 0;
}

MatFile read_mat_file(std::span<const uint8_t> bytes, size_t most_megabytes) {
  if (!is_mat_file(bytes)) throw DataError("not a MAT file of MATLAB");
  const uint8_t first = bytes[126];
  const bool is_little = first == 'I' && bytes[127] == 'M';
  if (!is_little && !(first == 'M' && bytes[127] == 'I')) damaged_mat("its header has no byte order");
  if (bytes[is_little ? 125 : 124] != 1)
    throw DataError("a MAT file of version 7.3, which is HDF5; save it with '-v7'");
  const bool is_swapped = is_little != (std::endian::native == std::endian::little);
  MatFile file;
  MatLimits limits{.bytes = most_megabytes << 20U};
  for (MatElements elements(bytes.subspan(kMatHead), is_swapped); !elements.at_end();) {
    const MatElement element = elements.next();
    if (element.type == kMatrix) file.arrays.push_back(read_array(element.data, is_swapped, 0, limits));
    if (element.type != kCompressed) continue;
    file.unpacked.push_back(inflated(element.data, limits.bytes, most_megabytes));
    limits.bytes -= file.unpacked.back().size();
    MatElements inside(file.unpacked.back(), is_swapped);
    file.arrays.push_back(next_array(inside, 0, limits));
  }
  return file;
}

}  // namespace tpack
