#pragma once

#include <optional>

#include "core/field.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace tpack {

// The syntax of shapes and element types in configs. Include this file for fields of these types.

template <>
struct EnumNames<DType> {
  static constexpr auto kNames = kDTypeNames;
};

template <>
struct Codec<Shape> {
  static FieldType type() { return Codec<std::vector<int64_t>>::type(); }
  static std::optional<Shape> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Shape& shape);
};

}  // namespace tpack
