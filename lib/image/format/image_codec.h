#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "image/image.h"

namespace tpack {

/// Size of the image, upright if the form requests it, from the header of a file of any format of
/// image_formats.h; reads no pixels. Errors: DataError if the bytes are not such a file, end early, or
/// declare more than kMaxImageSide pixels in a direction, or more megapixels in all frames than the form
/// allows.
ImageSize read_image_header(std::span<const uint8_t> bytes, const ImageForm& form = {});

/// Decodes the requested region to gray, RGB or RGBA, by `channels` (per frame), into `out` (created with its
/// own allocator) and returns its position there, which begins and ends inside pixels if the image is
/// reduced. White is 255 or 65535, depending on the requested depth; float32 has the values of the file.
/// Errors: DataError if the bytes are damaged or end early (no half-gray images).
Box decode_image(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out);

/// Whether the background changes the pixels of a file. Decodes the file if its header allows transparency.
bool shows_background(std::span<const uint8_t> bytes);

/// A JPEG of these pixels, gray or RGB with 8 bits; quality: 1 to 100.
std::vector<uint8_t> write_jpeg(const cv::Mat& pixels, int quality);

}  // namespace tpack
