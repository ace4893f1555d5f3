#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tpack {

/// Element types. Values are stable: checkpoints and plans store the names.
enum class DType : uint8_t { kFloat32, kFloat64, kInt32, kInt64, kUInt8, kBool };

inline constexpr std::array<std::pair<const char*, DType>, 6> kDTypeNames = {{{"float32", DType::kFloat32},
                                                                              {"float64", DType::kFloat64},
                                                                              {"int32", DType::kInt32},
                                                                              {"int64", DType::kInt64},
                                                                              {"uint8", DType::kUInt8},
                                                                              {"bool", DType::kBool}}};

size_t size_of(DType type);       // bytes of one element
const char* name_of(DType type);  // "float32"
bool is_float(DType type);

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

/// Calls `f` with a value of the element type: `visit(type, [&](auto zero) { using T = decltype(zero); ...
/// })`.
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
  }
  return f(float{});
}

}  // namespace tpack
