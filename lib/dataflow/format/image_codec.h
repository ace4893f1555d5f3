#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/image.h"

namespace tpack {

/// Size of the upright image, from the header of a JPEG or PNG; reads no pixels.
/// Errors: DataError if the bytes are neither, end early, or state more than
/// kMaxImageSide/kMaxImagePixels.
ImageSize read_image_header(std::span<const uint8_t> bytes);

/// Decodes the requested region to upright gray or RGB into `out` (created with its own allocator) and
/// returns its place there, which begins and ends inside pixels if the image is reduced. White is 255 or
/// 65535, as the requested depth says. Errors: DataError if the bytes are damaged or end early (no half-gray
/// images).
Box decode_image(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out);

// The formats, each in its own file; their sizes and regions are those of the stored pixels.
bool is_jpeg(std::span<const uint8_t> bytes);
ImageSize read_jpeg_header(std::span<const uint8_t> bytes);
/// Decodes by libjpeg-turbo: rows outside the region are skipped, columns outside it are not converted, and a
/// region that will be shrunk much is decoded at a reduced size (DCT scaling).
Box decode_jpeg(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// A JPEG of these pixels, gray or RGB with 8 bits; quality: 1 to 100.
std::vector<uint8_t> write_jpeg(const cv::Mat& pixels, int quality);
bool is_png(std::span<const uint8_t> bytes);
ImageSize read_png_header(std::span<const uint8_t> bytes);
/// True for a PNG that has 16 bits per channel. `header`: its first 25 bytes or more.
bool is_16_bit_png(std::span<const uint8_t> header);
/// The numbers that a PNG of up to 8 bits has for its pixels: of a palette the places in it, of gray the
/// values as they are stored; colors of others. CV_8UC1 or CV_8UC3. Errors: DataError as decode_png, and for
/// 16 bits per channel.
void read_png_values(std::span<const uint8_t> bytes, cv::Mat& out);
/// Transparency is dropped, 16 bits are cut to 8 unless they are requested, palettes are expanded. Stops
/// reading after the region.
void decode_png(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out);

}  // namespace tpack
