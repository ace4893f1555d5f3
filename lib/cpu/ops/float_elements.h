#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace tpack::cpu {

/// Elements of any type, from number `at` on, as the floats that kernels compute in.
void load_floats(DType type, const std::byte* from, int64_t at, float* to, int64_t count);

/// Floats as elements of a type, see cast_element.
void store_floats(DType type, const float* from, std::byte* to, int64_t at, int64_t count);

}  // namespace tpack::cpu
