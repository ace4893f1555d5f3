#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "image/image.h"

namespace tpack {

/// How the class of a pixel is written in files of masks.
struct MaskCode {
  size_t classes = 2;
  /// By class; empty: the number of the class is the value of a gray pixel, or its place in the palette.
  std::vector<std::array<uint8_t, 3>> colors = {};
  /// The value of pixels that do not count, or their place in the palette.
  std::optional<int64_t> ignored = {};
  /// Of two classes: gray values from this one on are the second class, and those below it the first one.
  std::optional<int64_t> threshold = {};
  int max_megapixels = kMaxMegapixels;
  bool upright = true;        // turned as Exif data say
  bool of_one_class = false;  // which is there or not, one of several masks
  bool alpha = false;         // the values are the transparency, 255 where a pixel is opaque
};

/// What pixels that do not count have in the mask of a sample.
constexpr uint8_t kIgnoredPixel = 255;

/// Reads the class numbers of files: PNG (gray, palette, colors), or other images as decode_image gives them.
/// Of two classes, 255 (of 16 bits 65535) is the second one, as masks of black and white have it. Of MAT
/// files with the edges that several people drew (BSDS500), 1 is an edge: where at least half of them drew
/// one. Threads: any.
class MaskReader {
 public:
  explicit MaskReader(MaskCode code);
  /// Of all pixels by rows. Errors: FileError for another size than that of the image, and for a value or a
  /// color that is not a class, with its place.
  void read(const std::string& path, ImageSize size, std::span<uint8_t> classes) const;

 private:
  /// Of a row of gray values; false if one of them is not a class.
  bool read_numbers(const uint8_t* row, std::span<uint8_t> classes) const;
  void reject_two_ways(const std::string& path, const cv::Mat& values) const;
  std::optional<uint8_t> class_of(const uint8_t* pixel, int channels) const;
  std::string not_a_class(const std::string& value, int channels) const;

  MaskCode code_;
  std::array<int16_t, 256> class_of_value_{};  // -1: none
};

}  // namespace tpack
