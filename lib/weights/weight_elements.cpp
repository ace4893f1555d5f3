#include "weights/weight_elements.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "sources/format/npy.h"
#include "tensor/half.h"

namespace tpack {
namespace {

void convert_bfloat16(const uint8_t* from, const Tensor& out) {
  for (float& value : out.span<float>()) {
    BFloat16 element;
    std::memcpy(&element, from, sizeof element);
    value = element.value();
    from += sizeof element;
  }
}

void convert_int64(const uint8_t* from, const Tensor& out) { std::memcpy(out.raw(), from, out.bytes()); }

constexpr int64_t kMostElements = int64_t{1} << 35;  // of a Shape

/// Both are at least 0. Errors: DataError with `where` if the product is above kMostElements.
int64_t times(int64_t a, int64_t b, const std::string& where) {
  if (a != 0 && b > kMostElements / a) throw DataError(where, "declares more than 2^35 elements");
  return a * b;
}

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  if (name == "bfloat16") return ElementType{"bfloat16", 2, DType::kFloat32, convert_bfloat16};
  if (name == "int64") return ElementType{"int64", 8, DType::kInt64, convert_int64};
  for (const NpyType& type : npy_types())
    if (type.name == name) return ElementType{type.name, type.bytes, type.dtype, type.convert};
  return std::nullopt;
}

Shape weight_shape(const std::vector<int64_t>& sizes, const std::string& where) {
  if (sizes.size() > Shape::kMaxRank)
    throw DataError(where, "has " + std::to_string(sizes.size()) + " axes; at most 8 are supported");
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0) throw DataError(where, "has a negative size");
    if (size > 0) elements = times(elements, size, where);
  }
  return Shape(sizes);
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& sizes, bool is_fortran) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t axis = is_fortran ? i : sizes.size() - 1 - i;
    strides[axis] = step;
    step *= std::max<int64_t>(sizes[axis], 1);
  }
  return strides;
}

void check_elements(const StridedElements& elements, const ElementType& type, const std::string& where) {
  const auto there = static_cast<int64_t>(elements.bytes.size() / type.bytes);
  int64_t count = 1;
  int64_t last = elements.offset;  // the largest index, or more than there are
  if (elements.strides.size() != elements.shape.size())
    throw DataError(where, "has " + std::to_string(elements.shape.size()) + " sizes and " +
                               std::to_string(elements.strides.size()) + " strides");
  for (size_t axis = 0; axis < elements.shape.size(); ++axis) {
    const int64_t size = elements.shape[axis];
    if (elements.strides[axis] < 0) throw DataError(where, "has a negative stride");
    count = times(count, size, where);
    if (size > 1) last = std::min(last, kMostElements) + times(size - 1, elements.strides[axis], where);
  }
  if (count == 0) return;
  if (elements.offset < 0 || last >= there)
    throw DataError(where, "has elements beyond the end of its storage of " + std::to_string(there));
  if (count > there)  // a stride of 0 could declare any number
    throw DataError(where, "repeats its elements: " + std::to_string(count) + " of " + std::to_string(there));
}

Tensor read_elements(const StridedElements& elements, const ElementType& type, const std::string& where) {
  const Shape shape(elements.shape);
  Tensor out(type.dtype, shape);
  if (out.elements() == 0) return out;
  const uint8_t* const begin = elements.bytes.data() + static_cast<size_t>(elements.offset) * type.bytes;
  try {
    if (elements.strides == strides_of(elements.shape)) {
      type.convert(begin, out);
      return out;
    }
    std::vector<uint8_t> ordered(static_cast<size_t>(out.elements()) * type.bytes);
    std::vector<int64_t> at(elements.shape.size(), 0);
    int64_t index = 0;
    for (size_t to = 0; to < ordered.size(); to += type.bytes) {
      std::memcpy(ordered.data() + to, begin + static_cast<size_t>(index) * type.bytes, type.bytes);
      for (size_t axis = at.size(); axis-- > 0;) {
        index += elements.strides[axis];
        if (++at[axis] < elements.shape[axis]) break;
        index -= elements.strides[axis] * at[axis];
        at[axis] = 0;
      }
    }
    type.convert(ordered.data(), out);
  } catch (const DataError& error) {
    throw DataError(where, error.what());
  }
  return out;
}

}  // namespace tpack
