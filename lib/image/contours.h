#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// One connected area of a class in a mask. Corners are [x, y] of pixels, the first one of an image is [0,
/// 0]; a line of pixels has only its ends.
struct Contour {
  using Polygon = std::vector<std::array<int, 2>>;

  int64_t label = 0;
  Polygon outline = {};
  std::vector<Polygon> holes = {};
  int64_t pixels = 0;  // of the area, without its holes
};

/// The areas of all classes of a mask [H, W] except class 0, by class, then from top to bottom. Pixels that
/// touch at a corner belong to the same area. Source: Suzuki and Abe 1985, "Topological Structural Analysis
/// of Digitized Binary Images by Border Following"; OpenCV's findContours.
std::vector<Contour> contours_of(const Tensor& mask);

}  // namespace tpack
