#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.h"

// The formats of image files. Sizes and regions are those of the stored pixels, which Exif data may turn.
// Readers of a header allocate no memory for pixels; a decoder is called for headers within the limits of
// image.h, with a region inside of the image. Damaged and truncated files are DataErrors, not half an image.
// Transparent pixels get the requested background, or transparency becomes a fourth channel; a single color
// that marks transparency stays unchanged (wants_alpha_of_palette). For 16 bits, the upper 8 are kept unless
// 16 bits or float32 are requested. GIF, TIFF and WebP need a shared library, which is opened on first use:
// ResourceError without it.
namespace tpack {

using EncodedBytes = std::span<const uint8_t>;

struct ImageFormat {
  std::string_view name;
  std::array<std::string_view, 4>
      endings;  // endings of file names, in lower case; the first unused one is empty
  bool (*is)(EncodedBytes bytes);
  ImageSize (*read_header)(EncodedBytes bytes);
  /// Returns the position of the region in `out` (created with its own allocator).
  Box (*decode)(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
  /// Whether a file has more than 8 bits per channel; null if none has.
  bool (*is_deep)(EncodedBytes bytes) = nullptr;
  /// Returns the requested number of frames, evenly spaced over those of the file (frame_at); some may be the
  /// same matrix. Null: files have one frame.
  std::vector<cv::Mat> (*decode_frames)(EncodedBytes bytes, const DecodeRequest& request,
                                        int channels) = nullptr;
  /// Whether pixels of a file may be transparent, so that the background matters; null: they never are.
  bool (*has_alpha)(EncodedBytes bytes) = nullptr;
};

/// The format of the content; null if it is unknown.
const ImageFormat* image_format_of(EncodedBytes bytes);
/// The format by the ending of a name; the content may have another format.
const ImageFormat* image_format_of_name(std::string_view path);
/// Whether a file has more than 8 bits per channel, including TIFFs of numbers, which need Depth::kFloat.
bool has_more_than_bytes(EncodedBytes bytes);
/// "JPEG, PNG, GIF or BMP".
std::string image_format_names();

bool is_jpeg(EncodedBytes bytes);
ImageSize read_jpeg_header(EncodedBytes bytes);
/// Decodes by libjpeg-turbo: rows outside the region are skipped, columns outside it are not converted, and a
/// region that will be shrunk much is decoded at a reduced size (DCT scaling).
Box decode_jpeg(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

bool is_png(EncodedBytes bytes);
ImageSize read_png_header(EncodedBytes bytes);
bool is_16_bit_png(EncodedBytes header);
bool has_png_alpha(EncodedBytes bytes);
/// Palettes are expanded. Stops reading after the region.
Box decode_png(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

/// The stored values of a PNG of up to 8 bits: palette indices, gray values, or colors. CV_8UC1 or CV_8UC3.
/// Returns the palette, if there is one. For files of up to 8 bits. Errors: as decode_png.
std::vector<std::array<uint8_t, 3>> read_png_values(EncodedBytes bytes, cv::Mat& out);

bool is_gif(EncodedBytes bytes);
ImageSize read_gif_header(EncodedBytes bytes);
/// Checks the first frame.
bool has_gif_alpha(EncodedBytes bytes);
/// The first frame. Uncovered parts of the canvas get its transparent color, or its first one.
Box decode_gif(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Each frame over the one before, as in Pillow.
std::vector<cv::Mat> decode_gif_frames(EncodedBytes bytes, const DecodeRequest& request, int channels);

bool is_bmp(EncodedBytes bytes);
ImageSize read_bmp_header(EncodedBytes bytes);
/// Uncompressed pixels of 1 to 32 bits, and run-length encoded ones.
Box decode_bmp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

bool is_tiff(EncodedBytes bytes);
ImageSize read_tiff_header(EncodedBytes bytes);
bool is_deep_tiff(EncodedBytes bytes);
bool has_tiff_alpha(EncodedBytes bytes);
/// Whether it can only be read as float32.
bool has_tiff_numbers(EncodedBytes bytes);
/// The first page: unsigned integers of up to 16 bits, gray, RGB, palette, CMYK or YCbCr; as float32 also
/// signed integers of 8 or 16 bits, integers of 32 bits (rounded from 2^24 on) and floats of 16, 32 or 64
/// bits, gray or RGB. Errors: also for NaN and infinite values.
Box decode_tiff(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Pages; all must have the size of the first one.
std::vector<cv::Mat> decode_tiff_pages(EncodedBytes bytes, const DecodeRequest& request, int channels);

bool is_webp(EncodedBytes bytes);
ImageSize read_webp_header(EncodedBytes bytes);
bool has_webp_alpha(EncodedBytes bytes);
/// The first frame of an animation; uncovered parts of the canvas are transparent black.
Box decode_webp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Needs another library.
std::vector<cv::Mat> decode_webp_frames(EncodedBytes bytes, const DecodeRequest& request, int channels);

/// PBM, PGM and PPM, binary or as text.
bool is_pnm(EncodedBytes bytes);
ImageSize read_pnm_header(EncodedBytes bytes);
bool is_deep_pnm(EncodedBytes bytes);
/// The largest value of a file is white.
Box decode_pnm(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

}  // namespace tpack
