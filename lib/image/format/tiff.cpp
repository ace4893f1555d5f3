#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tiffio.h>
#include <type_traits>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/orientation.h"
#include "image/format/stored_pixels.h"
#include "image/format/tiff_file.h"
#include "image/frames.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

[[noreturn]] void reject_tiff(const std::string& what) {
  throw DataError("a TIFF " + what + ", which is not supported; convert it to JPEG or PNG");
}

/// The number of samples of a pixel that are its color; 0: the library must compute it.
int color_samples(const TiffHeader& header) {
  switch (header.meaning) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_PALETTE:
      return 1;
    case PHOTOMETRIC_RGB:
      return 3;
    case PHOTOMETRIC_SEPARATED:
      return 4;
    case PHOTOMETRIC_YCBCR:
      return header.compression == COMPRESSION_JPEG && !header.has_planes ? 3 : 0;
    default:
      reject_tiff("of color space " + std::to_string(header.meaning));
  }
}

/// For pixels that are numbers, no value is defined as white.
bool has_numbers(const TiffHeader& header) {
  return header.format == SAMPLEFORMAT_IEEEFP || header.format == SAMPLEFORMAT_INT ||
         (header.format == SAMPLEFORMAT_UINT && header.bits == 32);
}

/// Errors: DataError for bits per sample, formats and color spaces that are not supported.
void check_samples(const TiffHeader& header, Depth depth) {
  const int bits = header.bits;
  const bool is_float = header.format == SAMPLEFORMAT_IEEEFP;
  const std::string of_bits = "of " + std::to_string(bits) + " bits per channel";
  if (!has_numbers(header)) {
    if (header.format != SAMPLEFORMAT_UINT) reject_tiff("of complex or unknown pixels");
    const bool is_palette = header.meaning == PHOTOMETRIC_PALETTE;
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && (bits != 16 || is_palette)) reject_tiff(of_bits);
    return;
  }
  const std::string kind = is_float ? "floating-point" : bits == 32 ? "32-bit" : "signed";
  if (depth != Depth::kFloat)
    throw DataError("a TIFF of " + kind + " pixels; set depth: float in the source of images to read it");
  const bool is_known =
      is_float ? bits == 16 || bits == 32 || bits == 64 : bits == 8 || bits == 16 || bits == 32;
  if (!is_known) reject_tiff("of " + kind + " pixels " + of_bits);
  if (header.meaning != PHOTOMETRIC_MINISBLACK && header.meaning != PHOTOMETRIC_RGB)
    reject_tiff("of " + kind + " pixels in color space " + std::to_string(header.meaning));
}

/// Errors: DataError for unsupported files, and for tiles that take much more memory than the image.
void check_tiff(const TiffHeader& header, Depth depth) {
  check_samples(header, depth);
  if (header.compression == COMPRESSION_OJPEG) reject_tiff("of old JPEG compression");
  constexpr int kMostSamples = 8;
  const int needed = std::max(color_samples(header), 1);
  if (header.samples < needed || header.samples > kMostSamples)
    reject_tiff("of " + std::to_string(header.samples) + " channels");
  const auto is_too_large = [](int side, int of_image) {
    constexpr int kMostSide = 1024;
    return side > std::max(kMostSide, of_image + 16);
  };
  if (header.is_tiled && (is_too_large(header.block.width, header.size.width) ||
                          is_too_large(header.block.height, header.size.height)))
    throw DataError("damaged TIFF: tiles of " + header.block.str() + " pixels in an image of " +
                    header.size.str());
}

/// A sample of 1 to 16 bits in a row of them; 16 bits are in the order of this machine.
uint16_t sample_at(const uint8_t* row, size_t i, uint16_t bits) {
  if (bits == 8) return row[i];
  if (bits == 16) {
    uint16_t value = 0;
    std::memcpy(&value, row + 2 * i, sizeof value);
    return value;
  }
  const size_t bit = i * bits;
  return static_cast<uint16_t>((static_cast<unsigned>(row[bit / 8]) >> (8U - bits - bit % 8)) &
                               ((1U << bits) - 1U));
}

template <class T>
float number_of_type(const uint8_t* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return static_cast<float>(value);
}

/// A sample of has_numbers, in the order of this machine.
float number_at(const uint8_t* row, size_t i, const TiffHeader& header) {
  const uint8_t* const at = row + i * header.bits / 8;
  if (header.format == SAMPLEFORMAT_UINT) return number_of_type<uint32_t>(at);
  if (header.format == SAMPLEFORMAT_INT && header.bits == 32) return number_of_type<int32_t>(at);
  if (header.format == SAMPLEFORMAT_INT)
    return header.bits == 8 ? number_of_type<int8_t>(at) : number_of_type<int16_t>(at);
  if (header.bits == 16) return number_of_type<cv::float16_t>(at);
  return header.bits == 32 ? number_of_type<float>(at) : number_of_type<double>(at);
}

int matrix_depth(const TiffHeader& header) {
  if (has_numbers(header)) return CV_32F;
  return header.bits == 16 ? CV_16U : CV_8U;
}

/// The first 1 to 4 stored samples of each pixel of a region.
class TiffSamples {
 public:
  TiffSamples(TiffFile& file, const Region& region, int channels)
      : file_(file),
        header_(file.header()),
        region_(region),
        channels_(channels),
        pixels_(pooled_mat(region.height, region.width, CV_MAKETYPE(matrix_depth(header_), channels))) {}

  cv::Mat read() {
    std::vector<uint8_t> block(file_.bytes_of_block());
    const ImageSize size = header_.block;
    const int planes = header_.has_planes ? channels_ : 1;
    for (int y = region_.y / size.height * size.height; y < region_.y + region_.height; y += size.height) {
      const int rows = std::min(size.height, header_.size.height - y);
      for (int x = region_.x / size.width * size.width; x < region_.x + region_.width; x += size.width) {
        for (int plane = 0; plane < planes; ++plane) {
          file_.read_block(x, y, static_cast<uint16_t>(plane), rows, block);
          take(block, x, y, plane);
        }
      }
    }
    return pixels_;
  }

 private:
  /// Copies the overlap of the region with a block whose first pixel is (x, y).
  void take(const std::vector<uint8_t>& block, int x, int y, int plane) {
    const size_t row_bytes = file_.bytes_of_row();
    const int top = std::max(y, region_.y);
    const int end = std::min(y + header_.block.height, region_.y + region_.height);
    for (int row = top; row < end; ++row) {
      const uint8_t* from = block.data() + static_cast<size_t>(row - y) * row_bytes;
      if (pixels_.depth() == CV_32F)
        take_row(from, x, plane, pixels_.ptr<float>(row - region_.y));
      else if (pixels_.depth() == CV_16U)
        take_row(from, x, plane, pixels_.ptr<uint16_t>(row - region_.y));
      else
        take_row(from, x, plane, pixels_.ptr<uint8_t>(row - region_.y));
    }
  }
  template <class T>
  void take_row(const uint8_t* from, int x, int plane, T* to) const {
    const int left = std::max(x, region_.x);
    const int end = std::min(x + header_.block.width, region_.x + region_.width);
    const int stored = header_.has_planes ? 1 : header_.samples;
    const int taken = header_.has_planes ? 1 : channels_;
    for (int column = left; column < end; ++column) {
      T* const pixel = to + (column - region_.x) * channels_ + plane;
      const auto first = static_cast<size_t>(column - x) * static_cast<size_t>(stored);
      for (int i = 0; i < taken; ++i) {
        const size_t sample = first + static_cast<size_t>(i);
        if constexpr (std::is_same_v<T, float>)
          pixel[i] = number_at(from, sample, header_);
        else
          pixel[i] = static_cast<T>(sample_at(from, sample, header_.bits));
      }
    }
  }

  TiffFile& file_;
  const TiffHeader& header_;
  const Region& region_;
  int channels_;
  cv::Mat pixels_;
};

/// Applies a function to each sample, in place.
template <class T, class Act>
void change_samples(cv::Mat& pixels, Act act) {
  const int count = pixels.cols * pixels.channels();
  for (int y = 0; y < pixels.rows; ++y) {
    T* const row = pixels.ptr<T>(y);
    for (int i = 0; i < count; ++i) row[i] = act(row[i]);
  }
}

/// Scales the largest number of these bits to 255.
void spread_bits(cv::Mat& samples, uint16_t bits) {
  if (bits >= 8) return;
  const unsigned largest = (1U << bits) - 1U;
  change_samples<uint8_t>(samples, [largest](uint8_t v) { return static_cast<uint8_t>(v * 255U / largest); });
}

void invert(cv::Mat& samples) {
  if (samples.depth() == CV_8U)
    change_samples<uint8_t>(samples, [](uint8_t v) { return static_cast<uint8_t>(255 - v); });
  else
    change_samples<uint16_t>(samples, [](uint16_t v) { return static_cast<uint16_t>(65535 - v); });
}

template <class T>
cv::Mat rgb_of_inks(const cv::Mat& inks) {
  constexpr unsigned kShift = sizeof(T) == 1 ? 0 : 8;
  cv::Mat out = pooled_mat(inks.rows, inks.cols, CV_8UC3);
  for (int y = 0; y < inks.rows; ++y) {
    const T* from = inks.ptr<T>(y);
    uint8_t* to = out.ptr(y);
    for (int x = 0; x < inks.cols; ++x, from += 4, to += 3) {
      const auto black = static_cast<uint8_t>(from[3] >> kShift);
      for (int i = 0; i < 3; ++i) to[i] = light_of_ink(static_cast<uint8_t>(from[i] >> kShift), black);
    }
  }
  return out;
}

/// Divides the colors by the alpha that they were multiplied by, which is the last channel.
template <class T>
void divide_by_alpha(cv::Mat& samples) {
  constexpr unsigned kWhite = std::numeric_limits<T>::max();
  const int colors = samples.channels() - 1;
  for (int y = 0; y < samples.rows; ++y) {
    T* pixel = samples.ptr<T>(y);
    for (int x = 0; x < samples.cols; ++x, pixel += colors + 1) {
      const unsigned alpha = pixel[colors];
      for (int i = 0; i < colors; ++i)
        pixel[i] = alpha == 0 ? T{0} : static_cast<T>(std::min(kWhite, pixel[i] * kWhite / alpha));
    }
  }
}

/// Whether the alpha of a page is read: only for colors of 8 or 16 bits.
bool has_colors_with_alpha(const TiffHeader& header) {
  return header.has_alpha && (header.bits == 8 || header.bits == 16) && !has_numbers(header) &&
         (header.meaning == PHOTOMETRIC_RGB || header.meaning == PHOTOMETRIC_MINISBLACK) &&
         header.samples > color_samples(header);
}

cv::Mat rgb_of_palette(const cv::Mat& indices, const TiffColors& colors) {
  cv::Mat out = pooled_mat(indices.rows, indices.cols, CV_8UC3);
  for (int y = 0; y < indices.rows; ++y) {
    const uint8_t* from = indices.ptr(y);
    auto* const to = out.ptr<cv::Vec3b>(y);
    for (int x = 0; x < indices.cols; ++x) {
      const auto& color = colors[from[x]];
      to[x] = {color[0], color[1], color[2]};
    }
  }
  return out;
}

cv::Mat computed_by_library(TiffFile& file, const Region& region) {
  const ImageSize size = file.header().size;
  cv::Mat all = pooled_mat(size.height, size.width, CV_32SC1);
  file.read_rgba(all);
  cv::Mat out = pooled_mat(region.height, region.width, CV_8UC3);
  for (int y = 0; y < region.height; ++y) {
    const auto* from = all.ptr<int>(region.y + y) + region.x;
    auto* const to = out.ptr<cv::Vec3b>(y);
    for (int x = 0; x < region.width; ++x) {
      const auto pixel = static_cast<uint32_t>(from[x]);
      to[x] = {static_cast<uint8_t>(TIFFGetR(pixel)), static_cast<uint8_t>(TIFFGetG(pixel)),
               static_cast<uint8_t>(TIFFGetB(pixel))};
    }
  }
  return out;
}

/// Errors: DataError for NaN and infinite values.
void require_finite(const cv::Mat& numbers, const Region& region) {
  const int channels = numbers.channels();
  for (int y = 0; y < numbers.rows; ++y) {
    const auto* row = numbers.ptr<float>(y);
    for (int i = 0; i < numbers.cols * channels; ++i) {
      if (std::isfinite(row[i])) continue;
      throw DataError("a TIFF with the value " + std::string(std::isnan(row[i]) ? "NaN" : "infinity") +
                      " at pixel (" + std::to_string(region.x + i / channels) + ", " +
                      std::to_string(region.y + y) + "); pixels must be finite numbers of float32");
    }
  }
}

/// Gray or RGB of 8 or 16 bits or float32; with alpha if it is requested, or if the colors are premultiplied.
cv::Mat stored_colors(TiffFile& file, const DecodeRequest& request, int wanted_channels) {
  const TiffHeader& header = file.header();
  const Region& region = request.region;
  const int channels = color_samples(header);
  if (channels == 0) return computed_by_library(file, region);
  if (header.meaning == PHOTOMETRIC_YCBCR) file.convert_to_rgb();
  if (has_numbers(header)) {
    cv::Mat numbers = TiffSamples(file, region, channels).read();
    require_finite(numbers, region);
    return numbers;
  }
  const bool with_alpha =
      has_colors_with_alpha(header) && (header.is_multiplied || wants_alpha(request, wanted_channels));
  cv::Mat samples = TiffSamples(file, region, channels + (with_alpha ? 1 : 0)).read();
  if (with_alpha && header.is_multiplied) {
    if (header.bits == 16)
      divide_by_alpha<uint16_t>(samples);
    else
      divide_by_alpha<uint8_t>(samples);
  }
  if (with_alpha) return samples;
  if (header.meaning == PHOTOMETRIC_PALETTE) return rgb_of_palette(samples, file.colors());
  spread_bits(samples, header.bits);
  if (header.meaning == PHOTOMETRIC_MINISWHITE) invert(samples);
  if (header.meaning != PHOTOMETRIC_SEPARATED) return samples;
  return header.bits == 16 ? rgb_of_inks<uint16_t>(samples) : rgb_of_inks<uint8_t>(samples);
}

Box decode_page(TiffFile& file, const DecodeRequest& request, int channels, cv::Mat& out) {
  check_tiff(file.header(), request.depth);
  return give_pixels(stored_colors(file, request, channels), request, channels, out);
}

}  // namespace

/// Without BigTIFF, which is only needed for files above the size limit of images.
bool is_tiff(EncodedBytes bytes) {
  return bytes.size() >= 8 &&
         (std::memcmp(bytes.data(), "II*\0", 4) == 0 || std::memcmp(bytes.data(), "MM\0*", 4) == 0);
}

ImageSize read_tiff_header(EncodedBytes bytes) { return TiffFile(bytes).header().size; }

bool has_tiff_numbers(EncodedBytes bytes) { return has_numbers(TiffFile(bytes).header()); }

bool has_tiff_alpha(EncodedBytes bytes) { return has_colors_with_alpha(TiffFile(bytes).header()); }

bool is_deep_tiff(EncodedBytes bytes) {
  const TiffFile file(bytes);
  return file.header().bits > 8 && !has_numbers(file.header());
}

Box decode_tiff(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  TiffFile file(bytes);
  return decode_page(file, request, channels, out);
}

std::vector<cv::Mat> decode_tiff_pages(EncodedBytes bytes, const DecodeRequest& request, int channels) {
  const std::vector<uint32_t> directories = tiff_directories(bytes);
  const auto pages = std::ssize(directories);
  TiffFile file(bytes);
  const ImageSize size = file.header().size;
  std::vector<cv::Mat> all;
  int64_t open = 0;
  for (int i = 0; i < request.frames; ++i) {
    const int64_t page = frame_at(i, request.frames, pages);
    if (i > 0 && page == open) {
      all.push_back(all.back());
      continue;
    }
    try {
      if (page != open) file.open_page(directories[static_cast<size_t>(page)]);
      open = page;
      if (!(file.header().size == size))
        throw DataError("has " + file.header().size.str() + " pixels, and the first page has " + size.str());
      decode_page(file, request, channels, all.emplace_back());
    } catch (const DataError& error) {
      throw DataError("page " + std::to_string(page + 1) + " of " + std::to_string(pages) + ": " +
                      error.what());
    }
  }
  return all;
}

}  // namespace tpack
