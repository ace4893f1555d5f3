#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace tpack {

/// False if an element is NaN or infinite; true for tensors of integers. On the host.
bool all_finite(const Tensor& tensor);
/// Number of the first element that is NaN or infinite, in row-major order. On the host.
std::optional<int64_t> first_not_finite(const Tensor& tensor);
/// "[2, 0, 1]": the position of the element with this number.
std::string place_of(int64_t element, const Shape& shape);

/// "nan at [2, 1]" for the first element that is not finite; "" if there is none. On the host.
std::string bad_element(const Tensor& tensor);

}  // namespace tpack
