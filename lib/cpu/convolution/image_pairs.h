#pragma once

#include "cpu/kernel.h"
#include "ops/convolution.h"

namespace tpack::cpu {

/// The name of this algorithm in plans.
inline constexpr const char* kImagePairs = "image-pairs";

/// Whether it computes the gradient of the weights, in images of bfloat16.
bool image_pairs_fit(const Node& node, const ConvolutionParams& p);

/// The gradient of the weights of a convolution: for each place of the window, a matrix product over all
/// pixels of all images. `vdpbf16ps` sums two products; these are of the same pixel in two images, so any
/// stride, padding and dilation is a matter of addresses. Some rows of some images at a time are written as
/// pairs, channels side by side, into a part of the second-level cache. Results are plain. A piece has
/// some channels, or some images; sums of images are added in the order of the pieces.
PreparedKernel image_pairs_backward_weights(const KernelRequest& request, const ConvolutionParams& p);

}  // namespace tpack::cpu
