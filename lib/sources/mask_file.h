#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "image/image.h"

namespace tpack {

/// The encoding of classes in mask files.
struct MaskCode {
  size_t classes = 2;
  /// By class; empty: the class number is the gray value, or the palette index.
  std::vector<std::array<uint8_t, 3>> colors = {};
  /// The value, or palette index, of ignored pixels.
  std::optional<int64_t> ignored = {};
  /// With two classes: gray values of at least this are the second class, others the first one.
  std::optional<int64_t> threshold = {};
  int max_megapixels = kMaxMegapixels;
  bool upright = true;        // turned upright by Exif data
  bool of_one_class = false;  // one of several masks of single classes
  bool alpha = false;         // the values are the alpha channel, 255 for opaque pixels
};

/// The value of ignored pixels in the mask of a sample.
constexpr uint8_t kIgnoredPixel = 255;

/// Reads the class numbers of files: PNG (gray, palette, colors), or other images, decoded by decode_image.
/// With two classes, 255 (65535 for 16 bits) is the second one, as in black and white masks. In MAT files
/// with edges by several people (BSDS500), 1 is an edge that at least half of them drew. Threads: any.
class MaskReader {
 public:
  explicit MaskReader(MaskCode code);
  /// The classes of all pixels by rows. Errors: FileError if the size differs from the image, and for a value
  /// or color that is not a class, with its position.
  void read(const std::string& path, ImageSize size, std::span<uint8_t> classes) const;

 private:
  /// The classes of a row of gray values; false if one of them is not a class.
  bool read_numbers(const uint8_t* row, std::span<uint8_t> classes) const;
  void reject_two_ways(const std::string& path, const cv::Mat& values) const;
  std::optional<uint8_t> class_of(const uint8_t* pixel, int channels) const;
  std::string not_a_class(const std::string& value, int channels) const;

  MaskCode code_;
  std::array<int16_t, 256> class_of_value_{};  // -1: none
};

}  // namespace tpack
