#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <opencv2/core/mat.hpp>

#include "image/image.h"

// Conversion of stored pixels for decoders.
namespace tpack {

/// Converts gray or RGB of 8 or 16 bits, or float32 if requested, each with or without an alpha channel at
/// the end, to the requested channels and depth, and returns the region in `out`: all of it. White stays
/// white; as float32, the numbers stay. Without a background, pixels keep their colors regardless of
/// transparency.
Box give_pixels(const cv::Mat& stored, const DecodeRequest& request, int channels, cv::Mat& out);

/// Whether the request needs the alpha channel of a file.
inline bool wants_alpha(const DecodeRequest& request, int channels) {
  return channels == kAlphaChannels || request.background.has_value();
}
/// The same for a palette, or for a color that marks transparency. If no other pixel has that color, it can
/// be kept without loss: the background only matters if entries are partly transparent, if several are
/// transparent, or if the transparent entry has the color of another one. `alpha`: for the first colors; the
/// others are opaque.
bool wants_alpha_of_palette(const DecodeRequest& request, int channels,
                            std::span<const std::array<uint8_t, 3>> colors, std::span<const uint8_t> alpha);

/// Red from cyan and black, green from magenta and black, blue from yellow and black, as in Pillow's
/// conversion of CMYK; 255 is full ink.
constexpr uint8_t light_of_ink(uint8_t ink, uint8_t black) {
  const unsigned paper = 255U - black;
  const unsigned product = ink * paper + 128U;
  const unsigned absorbed = ((product >> 8U) + product) >> 8U;  // ink * paper / 255, rounded
  return static_cast<uint8_t>(absorbed < paper ? paper - absorbed : 0U);
}

}  // namespace tpack
