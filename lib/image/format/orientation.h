#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "image/image.h"

namespace tpack {

/// How to turn an image upright: first swap its axes, then mirror it.
struct Orientation {
  bool transposed = false;
  bool mirrored_x = false;  // left to right
  bool mirrored_y = false;  // upside down

  bool operator==(const Orientation&) const = default;
  bool upright() const { return *this == Orientation{}; }
};

/// The orientation from the Exif data of a JPEG (APP1), PNG (eXIf) or WebP (EXIF) or from the fields of a
/// TIFF; upright if they are missing or damaged. Reads no pixels. Source: CIPA DC-008 (Exif 2.32), tag 274.
Orientation read_orientation(std::span<const uint8_t> bytes);

/// The value of a field of 16 bits in the directory of a page of a TIFF; 0 if there is none.
uint32_t tiff_field(std::span<const uint8_t> tiff, uint32_t directory, uint32_t tag);
/// The offset of the directory of the first page.
uint32_t first_tiff_directory(std::span<const uint8_t> tiff);
/// The offsets of the directories of all pages. Errors: DataError for a damaged chain or a loop.
std::vector<uint32_t> tiff_directories(std::span<const uint8_t> tiff);

/// The size of an upright image from the stored size, and back.
ImageSize oriented(ImageSize size, const Orientation& orientation);
/// The position of a region of the upright image in the stored one, which has this size.
Region stored_region(const Region& upright, ImageSize stored, const Orientation& orientation);
/// Turns pixels upright, and `part`, a region of them.
void turn_upright(cv::Mat& pixels, Box& part, const Orientation& orientation);

}  // namespace tpack
