#pragma once

#include <span>
#include <string>

#include "backend/run_info.h"
#include "graph/op.h"

/// The reference backend: plain loops over plain layouts, in float or double. It defines the right results
/// for all other backends, so it is written for clarity, not for speed.
namespace tpack::reference {

/// Computes a node's outputs (allocated) from its inputs.
using Kernel = void (*)(const Node& node, std::span<const Tensor> in, std::span<const Tensor> out,
                        const RunInfo& info);

/// Null if the op has none.
Kernel find_kernel(const std::string& op_type);

/// Adds a kernel at start-up: `const Registration kMatMul("MatMul", run);`
struct Registration {
  Registration(const char* op_type, Kernel kernel);
};

/// Picks float or double by the type of `tensor`: `by_float(t, [](auto zero) { using T = decltype(zero); ...
/// })`.
template <class F>
void by_float(const Tensor& tensor, F&& f) {
  if (tensor.dtype() == DType::kFloat64) {
    f(double{});
  } else {
    TPACK_ASSERT(tensor.dtype() == DType::kFloat32, "a float tensor is needed, not " + tensor.spec().str());
    f(float{});
  }
}

}  // namespace tpack::reference
