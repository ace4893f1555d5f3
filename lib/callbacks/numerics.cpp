#include "callbacks/numerics.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tpack {
namespace {

/// Number of the first element that is NaN or infinite.
std::optional<int64_t> first_bad(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat32 && tensor.dtype() != DType::kFloat64) return std::nullopt;
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

/// "[2, 0, 1]" of an element's number.
std::string place_of(int64_t element, const Shape& shape) {
  std::string text;
  for (int axis = static_cast<int>(shape.rank()) - 1; axis >= 0; --axis) {
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", ") + text;
    element /= shape[axis];
  }
  return "[" + text + "]";
}

/// "variable fc/W", "optimizer slot momentum of variable fc/W", "variable learning_rate of the optimizer".
std::string called(const std::string& name, VariableScope scope) {
  const size_t slash = name.find('/');
  if (name.starts_with('@') && slash != std::string::npos)
    return "optimizer slot " + name.substr(1, slash - 1) + " of variable " + name.substr(slash + 1);
  return "variable " + name + (scope == VariableScope::kOptimizer ? " of the optimizer" : "");
}

}  // namespace

void check_variables(Run& run) {
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const auto& [name, value] : run.variables(scope)) {
      const auto bad = first_bad(value);
      if (!bad) continue;
      diverged(run, called(name, scope) + " has " + std::to_string(value.at(*bad)) + " at " +
                        place_of(*bad, value.shape()));
    }
  }
}

void diverged(const Run& run, const std::string& what) {
  throw Diverged("after global_step " + std::to_string(run.global_step()) + " " + what +
                 "; try a smaller learning rate, or GlobalNormClip for the gradient");
}

}  // namespace tpack
