#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <opencv2/core/mat.hpp>

#include "image/image.h"

// What decoders do with pixels as a file has them.
namespace tpack {

/// Converts gray or RGB of 8 or 16 bits, or float32 if that is requested, each with or without a last channel
/// of transparency, to the channels and the depth that are requested, and returns the place of the region in
/// `out`: all of it. White stays white; as float32, the numbers stay. Without a background, pixels keep their
/// colors whatever their transparency.
Box give_pixels(const cv::Mat& stored, const DecodeRequest& request, int channels, cv::Mat& out);

/// Whether the request needs the transparency that a file has in a channel.
inline bool wants_alpha(const DecodeRequest& request, int channels) {
  return channels == kAlphaChannels || request.background.has_value();
}
/// The same of a palette, or of a color that stands for what is transparent. Such a color loses nothing if no
/// other pixel has it, so it is kept: the background only matters if entries are partly transparent, if
/// several are transparent, or if the transparent one has the color of another. `alpha`: of the first colors;
/// the others are opaque.
bool wants_alpha_of_palette(const DecodeRequest& request, int channels,
                            std::span<const std::array<uint8_t, 3>> colors, std::span<const uint8_t> alpha);

/// Red of cyan and black, green of magenta and black, blue of yellow and black, as Pillow converts CMYK; 255
/// is all ink.
constexpr uint8_t light_of_ink(uint8_t ink, uint8_t black) {
  const unsigned paper = 255U - black;
  const unsigned product = ink * paper + 128U;
  const unsigned absorbed = ((product >> 8U) + product) >> 8U;  // ink * paper / 255, rounded
  return static_cast<uint8_t>(absorbed < paper ? paper - absorbed : 0U);
}

}  // namespace tpack
