#pragma once

#include <array>
#include <cstdint>

#include "tensor/shape.h"

namespace tpack::reference {

/// Row-major steps of a shape, in elements.
inline std::array<int64_t, Shape::kMaxRank> strides_of(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[static_cast<int>(i)];
  }
  return strides;
}

/// Calls f(index, coordinates) for each element of a shape in row-major order.
template <class F>
void for_each_element(const Shape& shape, F&& f) {
  std::array<int64_t, Shape::kMaxRank> at{};
  const int64_t count = shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    f(i, at);
    for (size_t axis = shape.rank(); axis-- > 0;) {
      if (++at[axis] < shape[static_cast<int>(axis)]) break;
      at[axis] = 0;
    }
  }
}

/// Place in a tensor of shape `from` that broadcasts to coordinates `at` of a tensor of rank `rank`.
inline int64_t broadcast_index(const Shape& from, size_t rank,
                               const std::array<int64_t, Shape::kMaxRank>& at) {
  const auto strides = strides_of(from);
  const size_t extra = rank - from.rank();
  int64_t index = 0;
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    if (from[static_cast<int>(axis)] != 1) index += at[axis + extra] * strides[axis];
  }
  return index;
}

}  // namespace tpack::reference
