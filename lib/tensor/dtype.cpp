#include "tensor/dtype.h"

#include <string>

#include "core/error.h"

namespace tpack {

size_t size_of(DType type) {
  return visit_any(type, [](auto zero) { return sizeof zero; });
}

const char* name_of(DType type) {
  for (const auto& [name, value] : kDTypeNames) {
    if (value == type) return name;
  }
  return type == DType::kBFloat16 ? "bfloat16" : "float16";
}

void fail_visit(DType type) {
  throw InternalError(std::string("data of type ") + name_of(type) + ", which exists only within programs");
}

bool is_half(DType type) { return type == DType::kBFloat16 || type == DType::kFloat16; }

DType product_type(DType factor) { return is_half(factor) ? DType::kFloat32 : factor; }

bool is_float(DType type) { return type == DType::kFloat32 || type == DType::kFloat64 || is_half(type); }

}  // namespace tpack
