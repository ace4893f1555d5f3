#pragma once

#include <vector>

#include "graph/variables.h"
#include "weights/weight_file.h"

namespace tpack {

/// How a value in the layout of another library becomes that of a variable: seen with the sizes `seen`, its
/// axes are put into the order of `axes`, and the result has `spec`.
struct KernelLayout {
  std::vector<int64_t> seen;
  std::vector<size_t> axes;  // empty: as they are
  TensorSpec spec;
};

/// The layout of a value of this type and shape, as this variable. Values that cannot be this variable keep
/// their shape, so that it can be compared.
KernelLayout kernel_layout(WeightStyle style, const TensorSpec& there, const VariableSpec& as);
/// The value in the layout; shares the elements if they keep their order.
Tensor in_layout(const Tensor& value, const KernelLayout& layout);

}  // namespace tpack
