#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// A type of numbers in a file of weights, and how they become those of a tensor.
struct ElementType {
  std::string_view name;  // "bfloat16"
  size_t bytes = 0;
  DType dtype = DType::kFloat32;  // of the tensor
  /// Elements need not be aligned. Errors: DataError for numbers out of range of `dtype`.
  void (*convert)(const uint8_t* from, const Tensor& out) = nullptr;
};
/// bool, integers and floats of up to 64 bits, bfloat16, by NumPy's names. Nothing for other names.
std::optional<ElementType> element_type(std::string_view name);

/// Elements in a file: element [i, j] is at offset + i * strides[0] + j * strides[1].
struct StridedElements {
  std::span<const uint8_t> bytes;
  int64_t offset = 0;  // as strides, in elements
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

/// Shape of a tensor of a file. Errors: DataError with `where` for more than 8 axes, a negative size, or more
/// elements than fit into memory.
Shape weight_shape(const std::vector<int64_t>& sizes, const std::string& where);
/// Strides of an array whose last axis is the fastest, or whose first one is.
std::vector<int64_t> strides_of(const std::vector<int64_t>& sizes, bool is_fortran = false);
/// Errors: DataError with `where` if an element is outside of the bytes, or if more elements are declared
/// than are there.
void check_elements(const StridedElements& elements, const ElementType& type, const std::string& where);
/// The elements in row-major order; `elements` were checked. Errors: as `convert`, with `where`.
Tensor read_elements(const StridedElements& elements, const ElementType& type, const std::string& where);

}  // namespace tpack
