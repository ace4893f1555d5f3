#pragma once

#include <memory>

#include <opencv2/core/matx.hpp>

#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

/// Transforms that move points by a matrix: [x, y, 1] becomes matrix * [x, y, 1], divided by its third
/// number.
namespace tpack {

std::unique_ptr<Transform> make_warp(const cv::Matx33d& matrix, const Border& border);

cv::Matx33d translation(double x, double y);
/// Counterclockwise around (0, 0).
cv::Matx33d rotation(double degrees);
/// The matrix with `center` instead of (0, 0).
cv::Matx33d around(const Point& center, const cv::Matx33d& matrix);
inline Point middle_of(ImageSize size) { return {size.width / 2.0, size.height / 2.0}; }

/// For cv::remap and similar functions.
int opencv_border(const Border& border);

}  // namespace tpack
