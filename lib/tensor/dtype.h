#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensor/half.h"

namespace tpack {

/// Element types. Values are stable: checkpoints and plans store the names.
enum class DType : uint8_t { kFloat32, kFloat64, kInt32, kInt64, kUInt8, kBool, kBFloat16, kFloat16 };

/// The types of data, inputs and variables. 16-bit floats exist only within programs, between kernels
/// (backend/passes/store_half.cpp).
inline constexpr std::array<std::pair<const char*, DType>, 6> kDTypeNames = {{{"float32", DType::kFloat32},
                                                                              {"float64", DType::kFloat64},
                                                                              {"int32", DType::kInt32},
                                                                              {"int64", DType::kInt64},
                                                                              {"uint8", DType::kUInt8},
                                                                              {"bool", DType::kBool}}};

size_t size_of(DType type);       // bytes of one element
const char* name_of(DType type);  // "float32"
bool is_half(DType type);         // a float of 16 bits
bool is_float(DType type);
DType product_type(DType factor);  // of sums of products: float32 for factors of 16 bits

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::kFloat32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::kFloat64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::kInt32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::kInt64;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::kUInt8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::kBool;
}
template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::kBFloat16;
}
template <>
constexpr DType dtype_of<Float16>() {
  return DType::kFloat16;
}

/// Errors: InternalError, because `type` is a 16-bit float.
[[noreturn]] void fail_visit(DType type);

/// Calls `f` with a value of the element type, for types of data: `visit(type, [&](auto zero) { using T =
/// decltype(zero); ... })`.
template <class F>
decltype(auto) visit(DType type, F&& f) {
  switch (type) {
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kUInt8:
      return f(uint8_t{});
    case DType::kBool:
      return f(bool{});
    case DType::kBFloat16:
    case DType::kFloat16:
      break;
  }
  fail_visit(type);
}

/// The same for all types of values within programs.
template <class F>
decltype(auto) visit_any(DType type, F&& f) {
  if (type == DType::kBFloat16) return f(BFloat16{});
  if (type == DType::kFloat16) return f(Float16{});
  return visit(type, std::forward<F>(f));
}

}  // namespace tpack
