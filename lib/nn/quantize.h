#pragma once

#include <cstdint>

#include "graph/builder.h"

/// Numbers of few bits, in floats. Roundings have the gradient of the identity (straight-through estimator).
/// Source: Zhou et al. 2016, "DoReFa-Net: Training Low Bitwidth Convolutional Neural Networks with Low
/// Bitwidth Gradients"; tensorpack examples/DoReFa-Net.
namespace tpack::nn {

/// The largest number of bits of a quantized number.
inline constexpr int64_t kMostBits = 16;

/// Clips to 0 .. 1 and rounds to the nearest of 2^bits levels. Shapes: x any -> y same. Errors: ShapeError
/// for an input without floats, or bits that are not from 1 to kMostBits.
Symbol quantize_activation(Builder& b, Symbol x, int64_t bits);

/// Levels for all elements of a tensor of weights together. With one bit, the sign of x times the mean of
/// |x|, through which no gradient flows; else one of 2^bits levels from -1 to 1, the nearest to tanh(x) /
/// max(|tanh(x)|). Shapes and errors: as above.
Symbol quantize_weight(Builder& b, Symbol x, int64_t bits);

}  // namespace tpack::nn
