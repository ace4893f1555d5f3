#pragma once

#include <array>
#include <cstdint>

#include "tensor/shape.h"

namespace tpack::reference {

using Coordinates = std::array<int64_t, Shape::kMaxRank>;

/// Row-major steps of a shape, in elements.
inline Coordinates strides_of(const Shape& shape) {
  Coordinates strides{};
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
  Coordinates at{};
  Coordinates sizes{};
  const size_t rank = shape.rank();
  for (size_t axis = 0; axis < rank; ++axis) sizes[axis] = shape[static_cast<int>(axis)];
  const int64_t count = shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    f(i, at);
    for (size_t axis = rank; axis-- > 0;) {
      if (++at[axis] < sizes[axis]) break;
      at[axis] = 0;
    }
  }
}

/// The index, in a tensor of shape `from` that broadcasts to a tensor of rank `rank`, of an element of the
/// latter.
class BroadcastIndex {
 public:
  BroadcastIndex(const Shape& from, size_t rank) : rank_(rank) {
    const Coordinates strides = strides_of(from);
    const size_t extra = rank - from.rank();
    for (size_t axis = 0; axis < from.rank(); ++axis) {
      if (from[static_cast<int>(axis)] != 1) steps_[axis + extra] = strides[axis];
    }
  }
  int64_t operator()(const Coordinates& at) const {
    int64_t index = 0;
    for (size_t axis = 0; axis < rank_; ++axis) index += at[axis] * steps_[axis];
    return index;
  }

 private:
  size_t rank_;
  Coordinates steps_{};
};

}  // namespace tpack::reference
