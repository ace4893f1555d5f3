#include "data_tools/perceptual_hash.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace tpack {
namespace {

constexpr int kSide = 32;
constexpr int kFrequencies = 8;
constexpr int kBits = kFrequencies * kFrequencies;
/// Gray levels, the root of the mean square of the coefficients: compression noise has about 2, the minimum
/// of 250 photographs of ImageNet is 23, of 60,000 pictures of CIFAR-10 7 (all except 60 have at least 19).
constexpr double kLeastDetail = 8;

using Small = std::array<std::array<double, kSide>, kSide>;

/// The cell of a pixel, and the share of the cell that it covers.
struct Share {
  int cell = 0;
  double part = 0;
};

/// The cells of each of `length` pixels in a row, as kSide cells divide it.
std::vector<std::vector<Share>> shares_of(int64_t length) {
  std::vector<std::vector<Share>> shares(static_cast<size_t>(length));
  const double cells_per_pixel = static_cast<double>(kSide) / static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    const double begin = static_cast<double>(i) * cells_per_pixel;
    const double end = static_cast<double>(i + 1) * cells_per_pixel;
    for (int cell = static_cast<int>(begin); cell < kSide && cell < end; ++cell) {
      const double part = std::min<double>(end, cell + 1) - std::max<double>(begin, cell);
      if (part > 1e-9) shares[static_cast<size_t>(i)].push_back({cell, part});
    }
  }
  return shares;
}

/// The gray picture, averaged to kSide x kSide; `unit` is a gray level.
template <class T>
Small reduced(const T* pixels, const Shape& shape, double unit) {
  const int64_t channels = shape[2];
  const auto rows = shares_of(shape[0]);
  const auto columns = shares_of(shape[1]);
  Small out{};
  for (const auto& row : rows) {
    std::array<double, kSide> sums{};
    for (const auto& column : columns) {
      const double gray = channels < 3 ? static_cast<double>(pixels[0])
                                       : 0.299 * static_cast<double>(pixels[0]) +
                                             0.587 * static_cast<double>(pixels[1]) +
                                             0.114 * static_cast<double>(pixels[2]);
      for (const Share& share : column) sums.at(static_cast<size_t>(share.cell)) += gray * share.part;
      pixels += channels;
    }
    for (const Share& share : row)
      for (size_t x = 0; x < kSide; ++x)
        out.at(static_cast<size_t>(share.cell)).at(x) += sums.at(x) * share.part / unit;
  }
  return out;
}

/// Row k - 1 has the cosine of frequency k.
std::array<std::array<double, kSide>, kFrequencies> cosines() {
  std::array<std::array<double, kSide>, kFrequencies> all{};
  for (size_t k = 0; k < kFrequencies; ++k)
    for (size_t i = 0; i < kSide; ++i)
      all.at(k).at(i) = std::sqrt(2.0 / kSide) * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) *
                                                          static_cast<double>(k + 1) / kSide);
  return all;
}

std::array<double, kBits> coefficients(const Small& picture) {
  static const auto kCosines = cosines();
  std::array<double, kBits> all{};
  for (size_t v = 0; v < kFrequencies; ++v) {
    std::array<double, kSide> rows{};
    for (size_t y = 0; y < kSide; ++y)
      for (size_t x = 0; x < kSide; ++x) rows.at(x) += kCosines.at(v).at(y) * picture.at(y).at(x);
    for (size_t u = 0; u < kFrequencies; ++u)
      for (size_t x = 0; x < kSide; ++x) all.at(v * kFrequencies + u) += kCosines.at(u).at(x) * rows.at(x);
  }
  return all;
}

}  // namespace

std::optional<uint64_t> perceptual_hash(const Tensor& image) {
  constexpr double kUnitOf16Bits = 257;
  const std::array<double, kBits> found = coefficients(
      image.dtype() == DType::kUInt8 ? reduced(image.data<uint8_t>(), image.shape(), 1)
                                     : reduced(image.data<float>(), image.shape(), kUnitOf16Bits));
  double squares = 0;
  for (const double one : found) squares += one * one;
  if (!(std::sqrt(squares / kBits) >= kLeastDetail)) return std::nullopt;
  std::array<double, kBits> sorted = found;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted.at(kBits / 2 - 1) + sorted.at(kBits / 2)) / 2;
  uint64_t hash = 0;
  for (size_t i = 0; i < kBits; ++i)
    if (found.at(i) > median) hash |= uint64_t{1} << i;
  return hash;
}

}  // namespace tpack
