#pragma once

#include <cstdint>

#include <opencv2/core/mat.hpp>

#include "dataflow/image.h"

// What decoders do with pixels as a file has them.
namespace tpack {

/// Converts gray or RGB of 8 or 16 bits, or float32 if that is requested, to the channels and the depth that
/// are requested, and returns the place of the region in `out`: all of it. White stays white; as float32, the
/// numbers stay.
Box give_pixels(const cv::Mat& stored, int channels, Depth depth, cv::Mat& out);

/// Red of cyan and black, green of magenta and black, blue of yellow and black, as Pillow converts CMYK; 255
/// is all ink.
constexpr uint8_t light_of_ink(uint8_t ink, uint8_t black) {
  const unsigned paper = 255U - black;
  const unsigned product = ink * paper + 128U;
  const unsigned absorbed = ((product >> 8U) + product) >> 8U;  // ink * paper / 255, rounded
  return static_cast<uint8_t>(absorbed < paper ? paper - absorbed : 0U);
}

}  // namespace tpack
