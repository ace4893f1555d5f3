#pragma once

#include <opencv2/core/mat.hpp>

#include "image/augment/augmentor.h"

namespace tpack {

/// Resizes the part `from` of an image to size `to` and returns the region `part` of the result. `from` may
/// have edges inside pixels and exceed `in`, which has at least the pixels of pixels_of. Along a shrinking
/// axis, the filter is wide enough to weigh each pixel of `from`, so that details too fine for the result are
/// averaged and do not cause aliasing. `in`: 8 or 16 bits, 1 or 3 channels. `filter`: not kNearest. Source:
/// P. Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989; the filters have the widths of
/// Pillow's resize.
cv::Mat resize_smoothly(const cv::Mat& in, const Box& from, ImageSize to, const Region& part,
                        Interpolation filter);
/// The pixels needed for a region of the result, when an image of size `in` is resized to size `to`.
Region pixels_of(const Region& part, ImageSize in, ImageSize to, Interpolation filter);

}  // namespace tpack
