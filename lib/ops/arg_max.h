#pragma once

#include <cmath>

#include "graph/builder.h"

namespace tpack {

struct ArgMaxParams {
  int axis = 0;
};

/// The index of the largest element along an axis: the first one among equals; the first NaN if there is one.
/// Shapes: x [..., n, ...] -> int32 [..., ...], without the axis.
class ArgMax final : public OpOf<ArgMax, ArgMaxParams> {
 public:
  static constexpr const char* kType = "ArgMax";
  static Schema<ArgMaxParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

/// Sizes of a tensor before, along and after an axis.
struct AroundAxis {
  int64_t before = 1;
  int64_t size = 1;
  int64_t after = 1;
};
AroundAxis around_axis(const Shape& shape, int axis);

/// The first index of the largest of `size` values, `step` apart.
template <class T>
int32_t place_of_largest(const T* x, int64_t size, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < size && !std::isnan(x[best * step]); ++i) {
    const T value = x[i * step];
    if (value > x[best * step] || std::isnan(value)) best = i;
  }
  return static_cast<int32_t>(best);
}

}  // namespace tpack
