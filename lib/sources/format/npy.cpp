#include "sources/format/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"

// Source: numpy.lib.format, versions 1.0 to 3.0.
namespace tpack {
namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, int32_t>) {
    if (!std::in_range<int32_t>(value))
      throw DataError("the number " + std::to_string(value) + " does not fit into int32");
    return static_cast<int32_t>(value);
  } else if constexpr (kIsHalf<From>) {
    return value.value();
  } else if constexpr (std::is_same_v<From, double>) {
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
      throw DataError("the number " + shortest(value) + " does not fit into float32");
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class From, class To>
void convert_elements(const uint8_t* from, const Tensor& out) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(out.raw(), from, out.bytes());
  } else {
    for (To& value : out.span<To>()) {
      From element{};
      std::memcpy(&element, from, sizeof(From));  // elements need not be aligned
      value = converted<To>(element);
      from += sizeof(From);
    }
  }
}

/// Any byte that is not 0 is true.
void convert_bools(const uint8_t* from, const Tensor& out) {
  std::transform(from, from + out.elements(), out.data<bool>(), [](uint8_t byte) { return byte != 0; });
}

/// The header of an .npy file: a Python dict, such as {'descr': '<f4', 'fortran_order': False, 'shape':
/// (60000, 28, 28), }.
class NpyHeader {
 public:
  NpyHeader(std::string_view dict, std::string where) : dict_(dict), where_(std::move(where)) {}

  std::string descr() const {
    const std::string_view value = value_of("descr");
    if (value.starts_with('[')) reject("has named fields; save each field as an array of its own");
    if (!value.starts_with('\'')) reject("has a damaged header");
    const size_t end = value.find('\'', 1);
    if (end == std::string_view::npos) reject("has a damaged header");
    return std::string(value.substr(1, end - 1));
  }
  bool is_fortran() const {
    const std::string_view value = value_of("fortran_order");
    if (!value.starts_with("True") && !value.starts_with("False")) reject("has a damaged header");
    return value.starts_with("True");
  }
  std::vector<int64_t> shape() const {
    std::string_view value = value_of("shape");
    const size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string_view::npos) reject("has a damaged header");
    std::vector<int64_t> sizes;
    for (const std::string& part : split(value.substr(1, end - 1), ',')) {
      const std::string_view digits = trim(part);
      if (digits.empty()) continue;  // after the last comma
      int64_t size = 0;
      const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
      if (failure != std::errc{} || stop != digits.data() + digits.size() || size < 0)
        reject("has a damaged header");
      sizes.push_back(size);
    }
    return sizes;
  }
  [[noreturn]] void reject(const std::string& why) const { throw DataError(where_, why); }

 private:
  /// The text after 'key': in the dict.
  std::string_view value_of(const std::string& key) const {
    const std::string quoted = "'" + key + "'";
    size_t at = dict_.find(quoted);
    if (at == std::string_view::npos) reject("has no " + quoted + " in its header");
    at = dict_.find_first_not_of(' ', at + quoted.size());
    if (at == std::string_view::npos || dict_[at] != ':') reject("has a damaged header");
    at = dict_.find_first_not_of(' ', at + 1);
    return at == std::string_view::npos ? std::string_view{} : dict_.substr(at);
  }

  std::string_view dict_;
  std::string where_;
};

constexpr std::string_view kMagic = "\x93NUMPY";

/// The header's text; sets `data` to the bytes after it.
std::string_view dict_of(std::span<const uint8_t> file, std::span<const uint8_t>& data,
                         const std::string& where) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (!bytes.starts_with(kMagic)) throw DataError(where, "is not an array of NumPy (.npy)");
  if (file.size() < 10) throw DataError(where, "ends in its header");
  const uint8_t version = file[6];
  if (version < 1 || version > 3)
    throw DataError(where,
                    "has format version " + std::to_string(version) + "; supported versions are 1 to 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t begin = 8 + length_bytes;
  if (file.size() < begin) throw DataError(where, "ends in its header");
  size_t length = 0;
  for (size_t i = length_bytes; i-- > 0;) length = length << 8U | file[8 + i];
  if (length > file.size() - begin) throw DataError(where, "ends in its header");
  data = file.subspan(begin + length);
  return bytes.substr(begin, length);
}

constexpr std::array kNpyTypes = {
    NpyType{"f2", "float16", 2, DType::kFloat32, convert_elements<Float16, float>},
    NpyType{"f4", "float32", 4, DType::kFloat32, convert_elements<float, float>},
    NpyType{"f8", "float64", 8, DType::kFloat32, convert_elements<double, float>},
    NpyType{"u1", "uint8", 1, DType::kUInt8, convert_elements<uint8_t, uint8_t>},
    NpyType{"b1", "bool", 1, DType::kBool, convert_bools},
    NpyType{"i1", "int8", 1, DType::kInt32, convert_elements<int8_t, int32_t>},
    NpyType{"i2", "int16", 2, DType::kInt32, convert_elements<int16_t, int32_t>},
    NpyType{"i4", "int32", 4, DType::kInt32, convert_elements<int32_t, int32_t>},
    NpyType{"i8", "int64", 8, DType::kInt32, convert_elements<int64_t, int32_t>},
    NpyType{"u2", "uint16", 2, DType::kInt32, convert_elements<uint16_t, int32_t>},
    NpyType{"u4", "uint32", 4, DType::kInt32, convert_elements<uint32_t, int32_t>},
    NpyType{"u8", "uint64", 8, DType::kInt32, convert_elements<uint64_t, int32_t>},
};

}  // namespace

std::span<const NpyType> npy_types() { return kNpyTypes; }

const NpyType* npy_type(std::string_view descr) {
  if (descr.empty()) return nullptr;
  const auto found = std::find_if(kNpyTypes.begin(), kNpyTypes.end(),
                                  [&](const NpyType& t) { return t.descr == descr.substr(1); });
  if (found == kNpyTypes.end() || (descr.starts_with('>') && found->bytes > 1)) return nullptr;
  return &*found;
}

const NpyType& stored_type(DType type) {
  const std::string_view name = name_of(type);
  return *std::find_if(kNpyTypes.begin(), kNpyTypes.end(), [&](const NpyType& t) { return t.name == name; });
}

NpyContent read_npy(std::span<const uint8_t> file, const std::string& where) {
  NpyContent content;
  const NpyHeader header(dict_of(file, content.elements, where), where);
  const std::string descr = header.descr();
  content.type = npy_type(descr);
  if (content.type == nullptr && npy_type("<" + descr.substr(std::min<size_t>(1, descr.size()))) != nullptr)
    header.reject("is big-endian ('" + descr + "'); save x.astype(x.dtype.newbyteorder('<'))");
  if (content.type == nullptr) {
    const bool is_object = descr.find('O') != std::string::npos;
    header.reject("has elements of type '" + descr + (is_object ? "' (objects of Python)" : "'") +
                  "; supported are bool, integers and floats of up to 64 bits");
  }
  content.sizes = header.shape();
  content.is_fortran = header.is_fortran();
  if (content.sizes.size() > Shape::kMaxRank)
    header.reject("has " + std::to_string(content.sizes.size()) + " axes; at most 8 are supported");
  uint64_t bytes = content.type->bytes;
  for (const int64_t size : content.sizes) {
    constexpr uint64_t kMax = uint64_t{1} << 48U;
    if (size != 0 && bytes > kMax / static_cast<uint64_t>(size)) header.reject("declares more than 256 TB");
    bytes *= static_cast<uint64_t>(size);
  }
  if (bytes != content.elements.size()) {
    header.reject((bytes > content.elements.size() ? "ends early: it has " : "is too long: it has ") +
                  std::to_string(content.elements.size()) + " bytes of data, its header declares " +
                  std::to_string(bytes));
  }
  return content;
}

std::string npy_header(const NpyType& type, std::span<const int64_t> sizes) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kBefore = 10;  // magic, version, length
  std::string shape;
  for (const int64_t size : sizes) shape += std::to_string(size) + ", ";
  if (sizes.size() > 1) shape.erase(shape.size() - 2);
  if (sizes.size() == 1) shape.pop_back();
  const std::string order = type.bytes == 1 ? "|" : "<";
  std::string dict = "{'descr': '" + order + std::string(type.descr) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  dict.resize((kBefore + dict.size() + kAlignment) / kAlignment * kAlignment - kBefore, ' ');
  dict.back() = '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 0xffU), static_cast<char>(dict.size() >> 8U)};
  return header + dict;
}

NpyArray::NpyArray(OwnedBytes file, const std::string& where) : data_(std::move(file)) {
  const NpyContent content = read_npy(data_.bytes, where);
  data_.bytes = content.elements;
  type_ = content.type;
  if (content.sizes.empty()) throw DataError(where, "is a single number; its first axis must count samples");
  if (data_.bytes.empty()) throw DataError(where, "has no elements");
  samples_ = content.sizes[0];
  spec_ = {type_->dtype, Shape(std::span(content.sizes).subspan(1))};
  if (content.is_fortran && content.sizes.size() > 1) to_c_order(content.sizes);
}

void copy_to_c_order(std::span<const uint8_t> from, size_t item, std::span<const int64_t> sizes,
                     uint8_t* to) {
  std::vector<size_t> strides;  // in `from`, in bytes
  size_t stride = item;
  for (const int64_t size : sizes) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(size);
  }
  std::vector<int64_t> index(sizes.size(), 0);
  size_t at = 0;
  for (size_t done = 0; done < from.size(); done += item) {
    std::memcpy(to + done, from.data() + at, item);
    for (size_t axis = sizes.size(); axis-- > 0;) {  // the next index in C order
      at += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      at -= strides[axis] * static_cast<size_t>(sizes[axis]);
      index[axis] = 0;
    }
  }
}

void NpyArray::to_c_order(const std::vector<int64_t>& sizes) {
  const auto block = Storage::allocate(data_.bytes.size());
  auto* const ordered = reinterpret_cast<uint8_t*>(block->data());
  copy_to_c_order(data_.bytes, type_->bytes, sizes, ordered);
  data_ = {{ordered, data_.bytes.size()}, block};
}

std::vector<double> NpyArray::first_doubles() const {
  constexpr size_t kMost = 4096;
  if (type_->descr != "f8") return {};
  std::vector<double> numbers(std::min(kMost, data_.bytes.size() / sizeof(double)));
  std::memcpy(numbers.data(), data_.bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

void NpyArray::get(int64_t index, const Tensor& out) const {
  const size_t row = data_.bytes.size() / static_cast<size_t>(samples_);
  type_->convert(data_.bytes.data() + static_cast<size_t>(index) * row, out);
}

}  // namespace tpack
