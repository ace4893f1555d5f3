#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace tpack {

/// Adds `count` elements of `size` arrays in the order of the ranks, ((a0 + a1) + a2) + ..., piece by piece.
/// `source(rank)` is the array of a rank; `take(begin, sums)` gets each piece of the result, and may then
/// write into the arrays.
template <class T, class Source, class Take>
void sum_in_rank_order(int size, size_t count, Source&& source, Take&& take) {
  constexpr size_t kPiece = 512;  // stays in the first cache
  std::array<T, kPiece> sums;     // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  for (size_t begin = 0; begin < count; begin += kPiece) {
    const size_t length = std::min(kPiece, count - begin);
    std::copy_n(source(0) + begin, length, sums.begin());
    for (int rank = 1; rank < size; ++rank) {
      const T* values = source(rank) + begin;
      for (size_t i = 0; i < length; ++i) sums[i] += values[i];
    }
    take(begin, std::span<const T>(sums.data(), length));
  }
}

}  // namespace tpack
