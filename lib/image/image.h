#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/field.h"

namespace cv {
class Mat;  // only code that reads pixels includes OpenCV
}

namespace tpack {

struct ImageSize {
  int width = 0;  // pixels
  int height = 0;

  bool operator==(const ImageSize&) const = default;
  /// "640x480".
  std::string str() const;
};

/// A rectangle of pixels.
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool operator==(const Region&) const = default;
};

/// A position in an image, in pixels to the right and down; (0, 0) is the corner of the first pixel.
struct Point {
  double x = 0;
  double y = 0;

  bool operator==(const Point&) const = default;
};

/// A rectangle of an image whose edges may lie inside pixels.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  bool operator==(const Box&) const = default;
};

/// Channels that a source decodes to; always in this order, never BGR.
enum class Color : uint8_t { kRgb, kGray, kRgba };
template <>
struct EnumNames<Color> {
  static constexpr std::array<std::pair<const char*, Color>, 3> kNames = {
      {{"rgb", Color::kRgb}, {"gray", Color::kGray}, {"rgba", Color::kRgba}}};
};
constexpr int kAlphaChannels = 4;  // colors and transparency
inline int channels_of(Color color) {
  if (color == Color::kGray) return 1;
  return color == Color::kRgb ? 3 : kAlphaChannels;
}
inline Color color_of(int64_t channels) {
  if (channels == 1) return Color::kGray;
  return channels == kAlphaChannels ? Color::kRgba : Color::kRgb;
}
/// The background of transparent pixels, in 8 bits; in a config, [red, green, blue], or one number for gray.
struct Background {
  std::array<uint8_t, 3> rgb = {255, 255, 255};

  bool operator==(const Background&) const = default;
  /// "white", "black" or "[9, 8, 7]".
  std::string str() const;
};
template <>
struct Codec<Background> {
  static FieldType type() {
    return FieldType::either({FieldType::integer(), FieldType::list_of(FieldType::integer())},
                             "[red, green, blue] or one number, from 0 to 255");
  }
  static std::optional<Background> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Background& background);
};
/// The type of a channel of a pixel; in a config, 8, 16 or float.
enum class Depth : uint8_t {
  k8,      // uint8, white is 255
  k16,     // uint16, white is 65535
  kFloat,  // float32: the values of the file
};
template <>
struct Codec<Depth> {
  static FieldType type() {
    return FieldType::either({FieldType::integer(), FieldType::choice({"float"})}, "8, 16 or float");
  }
  static std::optional<Depth> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(Depth depth);
};

/// Limits of decoded images, checked in the header before memory for pixels is allocated: pixels per side,
/// and of all frames together unless a source sets another limit.
constexpr int kMaxImageSide = 16384;
constexpr int kMaxMegapixels = 64;

/// The conversion of the pixels of a file.
struct ImageForm {
  Color color = Color::kRgb;
  Depth depth = Depth::k8;
  int frames = 1;  // concatenated along the channels
  int max_megapixels = kMaxMegapixels;
  Background background = {};
  bool upright = true;  // turned upright by Exif data; false: as stored

  int channels() const { return frames * channels_of(color); }
};
/// OpenCV has at most 512 channels.
constexpr int kMostFrames = 128;

/// True for names that end in .jpg, .png or another ending of format/image_formats.h, in any letter case.
bool is_image_file(std::string_view path);
/// Those endings: ".jpg, .jpeg, .png or .gif", of all formats.
std::string image_file_endings();
/// Names of files and folders that file managers and archives leave behind: .DS_Store, ._1.jpg, __MACOSX.
bool is_hidden(std::string_view name);

/// The needed part of an encoded image, and its form.
struct DecodeRequest {
  Region region;  // region of the resulting image, upright or as stored
  /// The factor by which the region will be averaged afterwards, at least in both directions. A decoder may
  /// then return it at a reduced size, but at least kReducedMargin times the final one.
  double shrinks_by = 1;
  Depth depth = Depth::k8;
  /// More than 1: this many evenly spaced frames of the file, at full size.
  int frames = 1;
  /// The background of transparent pixels; nothing: they keep their color in the file.
  std::optional<Background> background = {};
  bool upright = true;
};

/// Ratio of the reduced decoded size to the final size. With 2, photographs differ by 0.4 gray levels on
/// average from fully decoded ones (1.1 in the worst of 60), with 1 by 1.2 (4.1).
constexpr int kReducedMargin = 2;

/// An image of a sample: pixels of 8 or 16 bits or float32, or encoded bytes of a file with their size from
/// the header. Images are upright unless their form keeps them as stored. Code that needs pixels calls
/// `decode` with the needed region. Memory is reused from sample to sample. Threads: one at a time.
class Image {
 public:
  Image();
  Image(Image&&) noexcept;
  Image& operator=(Image&&) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

  bool encoded() const { return encoded_; }
  ImageSize size() const { return size_; }
  int channels() const { return channels_; }
  /// The file that the bytes came from; empty if unknown.
  const std::string& origin() const { return origin_; }

  /// A buffer of `bytes` bytes for an encoded file; call `header_known` after filling it.
  std::span<uint8_t> encoded_buffer(size_t bytes);
  /// The same without copying: `file`, a part of the buffer, is the encoded file. The buffer gets the memory
  /// of the image before.
  void take_encoded(std::vector<uint8_t>& buffer, std::span<const uint8_t> file);
  /// Size of the pixels, or of the file if it is encoded.
  size_t bytes() const;
  /// The bytes of an encoded image.
  std::span<const uint8_t> encoded_bytes() const { return file_; }
  /// Reads the header of the buffer's content. Errors of this and of decoding are FileErrors of `origin`, the
  /// source file of the bytes. Errors: DataError if it is not an image of a known format, is damaged, or is
  /// larger than the limits.
  void header_known(const ImageForm& form, std::string_view origin = {});
  /// Takes pixels: 8 or 16 bit, or float32.
  void set_pixels(cv::Mat pixels);

  /// The pixels; an encoded image is decoded completely. Errors: DataError if the bytes are damaged.
  const cv::Mat& pixels();
  /// Decodes only the requested part, and keeps these pixels. Returns the position of the requested region in
  /// them; a reduced image may have more pixels at its edges.
  Box decode(const DecodeRequest& request);

 private:
  ImageSize size_;
  int channels_ = 0;
  ImageForm form_;
  bool encoded_ = false;
  std::vector<uint8_t> bytes_;
  std::span<const uint8_t> file_;  // the encoded image in them
  std::string origin_;
  std::unique_ptr<cv::Mat> pixels_;  // null until there are pixels
};

}  // namespace tpack
