#pragma once

#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "ops/convolution.h"

namespace tpack::cpu {

/// The name of this algorithm in plans.
inline constexpr const char* kPairWinograd = "winograd-pairs";

/// Whether it computes the convolution, or the gradient of its input: 3x3, stride 1, images of bfloat16,
/// whole blocks of 16 channels.
bool pair_winograd_fits(const Node& node, const ConvolutionParams& p);

/// Convolutions by F(2x2, 3x3) with transformed images and filters in bfloat16, which are multiplied in pairs
/// of channels (pair_products.h): 2.25 times fewer products. The transforms are computed in float32; their
/// rounding gives errors about twice those of rounded weights (0.4 % of the results' deviation instead of
/// 0.15 %; the rounding of results to bfloat16 alone gives 0.17 %). Images channels last or in blocks,
/// weights plain.
PreparedKernel pair_winograd_forward(const KernelRequest& request, const ConvolutionParams& p,
                                     const Epilogue& epilogue);
PreparedKernel pair_winograd_backward_data(const KernelRequest& request, const ConvolutionParams& p);

}  // namespace tpack::cpu
