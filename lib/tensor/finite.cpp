#include "tensor/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

namespace tpack {
namespace {

/// Compares bits: the largest exponent is that of NaN and infinity. Unlike a loop that leaves at the first
/// such element, this one uses the vector unit.
template <class T, class Bits>
bool are_finite(std::span<const T> values) {
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  Bits largest = 0;
  for (const T value : values) largest = std::max(largest, std::bit_cast<Bits>(value) & kMagnitude);
  return largest < std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
}

}  // namespace

bool all_finite(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat32) return are_finite<float, int32_t>(tensor.span<float>());
  if (tensor.dtype() == DType::kFloat64) return are_finite<double, int64_t>(tensor.span<double>());
  return true;
}

std::optional<int64_t> first_not_finite(const Tensor& tensor) {
  if (all_finite(tensor)) return std::nullopt;
  return visit(tensor.dtype(), [&](auto zero) -> std::optional<int64_t> {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<const T> values = tensor.span<T>();
      const auto bad = std::find_if(values.begin(), values.end(), [](T v) { return !std::isfinite(v); });
      if (bad != values.end()) return bad - values.begin();
    }
    return std::nullopt;
  });
}

std::string place_of(int64_t element, const Shape& shape) {
  std::string text;
  for (int axis = static_cast<int>(shape.rank()) - 1; axis >= 0; --axis) {
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", ") + text;
    element /= shape[axis];
  }
  return "[" + text + "]";
}

std::string bad_element(const Tensor& tensor) {
  const auto bad = first_not_finite(tensor);
  return bad ? std::to_string(tensor.at(*bad)) + " at " + place_of(*bad, tensor.shape()) : "";
}

}  // namespace tpack
