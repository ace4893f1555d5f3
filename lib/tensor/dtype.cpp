#include "tensor/dtype.h"

namespace tpack {

size_t size_of(DType type) {
  return visit(type, [](auto zero) { return sizeof zero; });
}

const char* name_of(DType type) {
  for (const auto& [name, value] : kDTypeNames) {
    if (value == type) return name;
  }
  return "?";
}

bool is_float(DType type) { return type == DType::kFloat32 || type == DType::kFloat64; }

}  // namespace tpack
