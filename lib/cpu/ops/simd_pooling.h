#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

/// Loops over the windows of pooling, for images of a type, float32 or bfloat16 (computed in float),
/// compiled for
/// several instruction sets and chosen by what the CPU has.
namespace tpack::cpu::simd {

/// Adjacent windows in a row of output pixels that all cover the same places relative to their start. A pixel
/// is a run of adjacent channels.
struct Windows {
  size_t channels = 0;
  const int64_t* offsets = nullptr;  // of the first window's places in the image, in elements
  const uint8_t* numbers = nullptr;  // of these places inside a whole window, row by row
  size_t places = 0;                 // at least one
  size_t count = 1;                  // windows
  int64_t step = 0;                  // elements of the image from one window to the next
};

/// out, index [count, channels]: the largest element of each window and the number of the first place that
/// has it; if there is a NaN, NaN and the last place that has it.
void max_of(DType type, const std::byte* image, const Windows& windows, std::byte* out, uint8_t* index);

/// The gradient of max_of: adds dy to each place whose number is index. If no other window covers the place,
/// it writes instead: dy there, 0 elsewhere.
enum class Scatter : uint8_t { kAdd, kWrite };
void scatter(DType type, const std::byte* dy, const uint8_t* index, const Windows& windows, std::byte* image,
             Scatter how);

/// out [count, channels]: the elements of the image at the places that index names.
void gather(DType type, const std::byte* image, const uint8_t* index, const Windows& windows, std::byte* out);

/// out [count, channels]: the mean of each window.
void mean_of(DType type, const std::byte* image, const Windows& windows, std::byte* out);

/// The gradient of mean_of: adds an equal share of dy to each place.
void spread(DType type, const std::byte* dy, const Windows& windows, std::byte* image);

}  // namespace tpack::cpu::simd
