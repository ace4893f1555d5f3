#pragma once

#include <opencv2/core/mat.hpp>

#include "dataflow/augment/augmentor.h"

namespace tpack {

/// The part `from` of `in`, whose edges may lie inside pixels, at size `to`. Along an axis that becomes
/// smaller, the filter is as wide as it must be to weigh each pixel of `from`, so that details that are too
/// fine for the result are averaged instead of turned into patterns.
/// `in`: 8 or 16 bits, 1 or 3 channels. `filter`: not kNearest.
/// Source: P. Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989; the filters have the
/// widths of Pillow's resize.
cv::Mat resize_smoothly(const cv::Mat& in, const Box& from, ImageSize to, Interpolation filter);

}  // namespace tpack
