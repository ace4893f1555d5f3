#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "image/image.h"

namespace tpack {

/// How an image is turned to be upright: its axes are exchanged first, then it is mirrored.
struct Orientation {
  bool transposed = false;
  bool mirrored_x = false;  // left to right
  bool mirrored_y = false;  // upside down

  bool operator==(const Orientation&) const = default;
  bool upright() const { return *this == Orientation{}; }
};

/// What the Exif data of a JPEG (APP1), PNG (eXIf) or WebP (EXIF) or the fields of a TIFF say; upright if
/// there are none, or damaged ones. Reads no pixels. Source: CIPA DC-008 (Exif 2.32), tag 274.
Orientation read_orientation(std::span<const uint8_t> bytes);

/// The value of a field of 16 bits in the directory of a page of a TIFF; 0 if there is none.
uint32_t tiff_field(std::span<const uint8_t> tiff, uint32_t directory, uint32_t tag);
/// Where the directory of the first page begins.
uint32_t first_tiff_directory(std::span<const uint8_t> tiff);
/// Where the directories of all pages begin. Errors: DataError for a chain of them that is damaged or a loop.
std::vector<uint32_t> tiff_directories(std::span<const uint8_t> tiff);

/// The size of an upright image from that of the stored one, and back.
ImageSize oriented(ImageSize size, const Orientation& orientation);
/// Where a region of the upright image is in the stored one, which has this size.
Region stored_region(const Region& upright, ImageSize stored, const Orientation& orientation);
/// Turns pixels upright, and `part`, a place in them.
void turn_upright(cv::Mat& pixels, Box& part, const Orientation& orientation);

}  // namespace tpack
