#pragma once

#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "ops/convolution.h"

namespace tpack::cpu {

/// The name of this algorithm in plans. oneDNN's own is "winograd": it is better for hundreds of channels,
/// where the transformed weights do not stay in the cache.
inline constexpr const char* kTiledWinograd = "winograd-tiled";

/// True for windows that it can compute: 3x3, stride 1, no dilation, one group.
bool tiled_winograd_fits(const ConvolutionParams& p, const Shape& weights);

/// True if oneDNN's Winograd kernels may be used as well. They need AVX-512. With unequal paddings they
/// exist, but version 2.6 computes a wrong gradient of the input.
bool onednn_winograd_fits(const ConvolutionParams& p);

/// Convolutions by F(4x4, 3x3), a few tiles at a time from input to output, so that the values in between
/// stay in the second-level cache. Images in blocks of 16 channels, weights plain.
PreparedKernel tiled_winograd_forward(const KernelRequest& request, const ConvolutionParams& p,
                                      const Epilogue& epilogue);
PreparedKernel tiled_winograd_backward_data(const KernelRequest& request, const ConvolutionParams& p);
PreparedKernel tiled_winograd_backward_weights(const KernelRequest& request, const ConvolutionParams& p);

}  // namespace tpack::cpu
