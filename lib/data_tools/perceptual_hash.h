#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace tpack {

/// Pictures are near duplicates if their hashes differ in at most this many bits. Measured: 166 of the 500
/// million pairs of a test and a training picture of CIFAR-10, all with the same class; 8 bits find 311, of
/// which 7 % have different classes. docs/data.md has more figures.
constexpr int kNearBits = 6;

/// A 64-bit perceptual hash: from the cosine transform of the gray picture at 32 x 32, one bit for each of
/// the 8 x 8 lowest frequencies above 0: whether it is above the median. It hardly changes with size,
/// compression and brightness. Nothing for a picture with too little content, such as a blank one or stripes:
/// noise would decide the bits, and such pictures would look alike. Shape: [H, W, C], uint8, or float32 from
/// 0 to 65535. Source: Zauner 2010, "Implementation and Benchmarking of Perceptual Image Hash Functions".
std::optional<uint64_t> perceptual_hash(const Tensor& image);

}  // namespace tpack
