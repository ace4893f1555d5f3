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
// Transparent pixels are put onto the background that is requested, or given as a fourth channel; one color
// that stands for what is transparent stays as it is (wants_alpha_of_palette). Of 16 bits, the upper 8 are
// kept unless 16 bits or float32 are requested. GIF, TIFF and WebP need a shared library, which is opened on
// first use: ResourceError without it.
namespace tpack {

using EncodedBytes = std::span<const uint8_t>;

struct ImageFormat {
  std::string_view name;
  std::array<std::string_view, 4> endings;  // of file names, in lower case; the first of unused ones is empty
  bool (*is)(EncodedBytes bytes);
  ImageSize (*read_header)(EncodedBytes bytes);
  /// Returns the place of the region in `out` (created with its own allocator).
  Box (*decode)(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
  /// Whether a file has more than 8 bits per channel; null if none has.
  bool (*is_deep)(EncodedBytes bytes) = nullptr;
  /// Gives as many frames as requested, evenly spaced over those that a file has (frame_at); some may be the
  /// same matrix. Null: files have one frame.
  std::vector<cv::Mat> (*decode_frames)(EncodedBytes bytes, const DecodeRequest& request,
                                        int channels) = nullptr;
  /// Whether pixels of a file may be transparent, so that the background may matter; null: they never are.
  bool (*has_alpha)(EncodedBytes bytes) = nullptr;
};

/// The format of the content; null if it has none of them.
const ImageFormat* image_format_of(EncodedBytes bytes);
/// The format that the ending of a name stands for; the content may have another.
const ImageFormat* image_format_of_name(std::string_view path);
/// Whether a file has more than 8 bits per channel, numbers of a TIFF among them: Depth::kFloat gives them.
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

/// The numbers that a PNG of up to 8 bits has for its pixels: of a palette the places in it, of gray the
/// values as they are stored; colors of others. CV_8UC1 or CV_8UC3. Returns the palette, if there is one. For
/// files of up to 8 bits. Errors: as decode_png.
std::vector<std::array<uint8_t, 3>> read_png_values(EncodedBytes bytes, cv::Mat& out);

bool is_gif(EncodedBytes bytes);
ImageSize read_gif_header(EncodedBytes bytes);
/// Looks at the first frame.
bool has_gif_alpha(EncodedBytes bytes);
/// The first frame. Where it leaves the canvas uncovered, the color is its transparent one, or its first.
Box decode_gif(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Each over the one before, as Pillow puts them together.
std::vector<cv::Mat> decode_gif_frames(EncodedBytes bytes, const DecodeRequest& request, int channels);

bool is_bmp(EncodedBytes bytes);
ImageSize read_bmp_header(EncodedBytes bytes);
/// Uncompressed pixels of 1 to 32 bits, and run-length encoded ones.
Box decode_bmp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

bool is_tiff(EncodedBytes bytes);
ImageSize read_tiff_header(EncodedBytes bytes);
bool is_deep_tiff(EncodedBytes bytes);
bool has_tiff_alpha(EncodedBytes bytes);
/// Whether only float32 can be read of it.
bool has_tiff_numbers(EncodedBytes bytes);
/// The first page: unsigned integers of up to 16 bits, gray, RGB, palette, CMYK or YCbCr; as float32 also
/// signed integers of 8 or 16 bits, integers of 32 bits (rounded from 2^24 on) and floats of 16, 32 or 64
/// bits, gray or RGB. Errors: also for NaN and infinite values.
Box decode_tiff(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Pages, which have the size of the first one.
std::vector<cv::Mat> decode_tiff_pages(EncodedBytes bytes, const DecodeRequest& request, int channels);

bool is_webp(EncodedBytes bytes);
ImageSize read_webp_header(EncodedBytes bytes);
bool has_webp_alpha(EncodedBytes bytes);
/// The first frame of an animation; transparent black where it leaves the canvas uncovered.
Box decode_webp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);
/// Needs another library, too.
std::vector<cv::Mat> decode_webp_frames(EncodedBytes bytes, const DecodeRequest& request, int channels);

/// PBM, PGM and PPM, binary or as text.
bool is_pnm(EncodedBytes bytes);
ImageSize read_pnm_header(EncodedBytes bytes);
bool is_deep_pnm(EncodedBytes bytes);
/// The largest value of a file is white.
Box decode_pnm(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out);

}  // namespace tpack
