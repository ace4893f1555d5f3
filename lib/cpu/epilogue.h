#pragma once

#include <optional>
#include <span>

#include "graph/graph.h"
#include "graph/op.h"

namespace tpack::cpu {

/// The last operations in kernels of convolutions and matrix products, in this order; the result may then be
/// rounded to the type of the factors.
struct Epilogue {
  bool bias = false;  // a value for each channel or column is added; it is the third input
  bool relu = false;  // max(y, 0)
};

/// The epilogue of a Fused or of a product alone, if kernels can compute it; empty for other expressions.
std::optional<Epilogue> epilogue_of(const Op& op, std::span<const Symbol> inputs);

}  // namespace tpack::cpu
