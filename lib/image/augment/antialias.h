#pragma once

#include <opencv2/core/mat.hpp>

#include "image/augment/augmentor.h"

namespace tpack {

/// Of the part `from` of an image, at size `to`: the region `part` of the result. `from` may have edges
/// inside pixels and go beyond `in`, which has at least the pixels that pixels_of names. Along an axis that
/// becomes smaller, the filter is as wide as it must be to weigh each pixel of `from`, so that details that
/// are too fine for the result are averaged instead of turned into patterns. `in`: 8 or 16 bits, 1 or 3
/// channels. `filter`: not kNearest. Source: P. Heckbert, "Fundamentals of Texture Mapping and Image
/// Warping", 1989; the filters have the widths of Pillow's resize.
cv::Mat resize_smoothly(const cv::Mat& in, const Box& from, ImageSize to, const Region& part,
                        Interpolation filter);
/// The pixels that a region of the result is made of, where all of an image of size `in` comes to size `to`.
Region pixels_of(const Region& part, ImageSize in, ImageSize to, Interpolation filter);

}  // namespace tpack
