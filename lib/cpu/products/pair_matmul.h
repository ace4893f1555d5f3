#pragma once

#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "ops/matmul.h"

namespace tpack::cpu {

/// Whether this kernel computes the product: factors of bfloat16, one of which may be float32, on a processor
/// that multiplies pairs of them and has no tiles.
bool pair_matmul_fits(const Node& node, const MatMulParams& params);

/// A matrix product with its epilogue, of pairs along the inner axis (pair_products.h). Some rows of the
/// first factor and 128 columns of the second one at a time are written as pairs into the second-level cache;
/// factors of float32 are rounded there. Results do not depend on the number of pieces.
PreparedKernel pair_matmul(const KernelRequest& request, const MatMulParams& params,
                           const Epilogue& epilogue);

}  // namespace tpack::cpu
