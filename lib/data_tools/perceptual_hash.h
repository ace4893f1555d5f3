#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace tpack {

/// Pictures whose hashes differ in at most so many bits are near duplicates. Measured: of the 500 million
/// pairs of a test and a training picture of CIFAR-10, 166 are, all of which show the same class; 8 bits find
/// 311, of which 7 % show different classes. docs/data.md has more figures.
constexpr int kNearBits = 6;

/// The 64-bit hash of what a picture shows: the gray picture at 32 x 32, of whose cosine transform the 8 x 8
/// coefficients of the lowest frequencies above 0 are larger than their median, or not. It stays nearly the
/// same under other sizes, compression and brightness. Nothing for a picture with too little in it, such as a
/// blank one or stripes: noise would decide about the bits, and such pictures would be alike. Shape: [H, W,
/// C], uint8, or float32 from 0 to 65535. Source: Zauner 2010, "Implementation and Benchmarking of Perceptual
/// Image Hash Functions".
std::optional<uint64_t> perceptual_hash(const Tensor& image);

}  // namespace tpack
