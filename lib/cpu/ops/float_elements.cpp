#include "cpu/ops/float_elements.h"

#include <algorithm>
#include <cstring>

#include "cpu/sweep/simd.h"
#include "tensor/cast.h"

namespace tpack::cpu {
namespace {

// An overload for each type that has a faster way than the loop.

template <class T>
void load(const T* from, float* to, size_t count) {
  std::transform(from, from + count, to, cast_element<float, T>);
}
void load(const float* from, float* to, size_t count) { std::copy_n(from, count, to); }
void load(const int32_t* from, float* to, size_t count) { simd::from_int32(from, to, count); }
void load(const uint8_t* from, float* to, size_t count) { simd::from_uint8(from, to, count); }
void load(const BFloat16* from, float* to, size_t count) { convert({from, count}, to); }
void load(const Float16* from, float* to, size_t count) { convert({from, count}, to); }

template <class T>
void store(const float* from, T* to, size_t count) {
  std::transform(from, from + count, to, cast_element<T, float>);
}
void store(const float* from, float* to, size_t count) {
  if (from != to) std::memcpy(to, from, count * sizeof(float));
}
void store(const float* from, int32_t* to, size_t count) { simd::to_int32(from, to, count); }
void store(const float* from, uint8_t* to, size_t count) { simd::to_uint8(from, to, count); }
void store(const float* from, BFloat16* to, size_t count) { convert({from, count}, to); }
void store(const float* from, Float16* to, size_t count) { convert({from, count}, to); }

/// A bool is a byte that is 1 or 0.
DType stored_type(DType type) { return type == DType::kBool ? DType::kUInt8 : type; }

}  // namespace

void load_floats(DType type, const std::byte* from, int64_t at, float* to, int64_t count) {
  visit_any(stored_type(type), [&](auto zero) {
    load(reinterpret_cast<const decltype(zero)*>(from) + at, to, static_cast<size_t>(count));
  });
}

void store_floats(DType type, const float* from, std::byte* to, int64_t at, int64_t count) {
  visit_any(stored_type(type), [&](auto zero) {
    store(from, reinterpret_cast<decltype(zero)*>(to) + at, static_cast<size_t>(count));
  });
}

}  // namespace tpack::cpu
