#include "sources/mask_file.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/sample_error.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "image/format/orientation.h"
#include "sources/format/edge_drawings.h"
#include "sources/format/mat_file.h"
#include "system/mapped_file.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

std::string text_of(const uint8_t* pixel, int channels) {
  if (channels == 1) return std::to_string(pixel[0]);
  return "[" + std::to_string(pixel[0]) + ", " + std::to_string(pixel[1]) + ", " + std::to_string(pixel[2]) +
         "]";
}

/// 1 where at least half of the people drew an edge.
cv::Mat edges_of(std::span<const uint8_t> bytes) {
  constexpr double kHalf = 0.5;
  const cv::Mat edges = read_edge_shares(bytes) >= kHalf;  // 255 where it is true
  return edges / 255;
}

/// Some programs make palettes from the colors in the image, the most frequent or brightest one first.
void reject_inverted_palette(const std::vector<std::array<uint8_t, 3>>& palette) {
  const auto text = [](const std::array<uint8_t, 3>& color) { return text_of(color.data(), 3); };
  constexpr int kBright = 192;
  constexpr int kDark = 64;
  if (palette.size() < 2 || std::ranges::min(palette[0]) < kBright || std::ranges::max(palette[1]) >= kDark)
    return;
  throw DataError(
      "is a mask whose palette has white as class 0 and black as class 1; set the color of each class: "
      "colors: [" +
      text(palette[1]) + ", " + text(palette[0]) + "] if white is class 1");
}

/// Labels as stored by microscopy programs. White of 16 bits is 255. Errors: DataError for numbers that are
/// not class numbers.
cv::Mat bytes_of(const cv::Mat& numbers) {
  cv::Mat bytes(numbers.rows, numbers.cols, CV_8UC1);
  for (int y = 0; y < numbers.rows; ++y) {
    for (int x = 0; x < numbers.cols; ++x) {
      const float stored = numbers.at<float>(y, x);
      const float number = stored == 65535 ? 255 : stored;
      if (number < 0 || number > 255 || number != std::floor(number))
        throw DataError("has the value " + shortest(stored) + " at (" + std::to_string(x) + ", " +
                        std::to_string(y) + "); classes are whole numbers up to 255");
      bytes.at<uint8_t>(y, x) = static_cast<uint8_t>(number);
    }
  }
  return bytes;
}

/// Gray values, palette indices, or colors.
cv::Mat values_of(std::span<const uint8_t> bytes, const MaskCode& code) {
  const bool are_colors = !code.colors.empty();
  if (is_mat_file(bytes)) {
    if (are_colors) throw DataError("is a MAT file of edges, which has no colors; remove 'colors'");
    return edges_of(bytes);
  }
  cv::Mat values;
  const ImageSize size =
      read_image_header(bytes, {.max_megapixels = code.max_megapixels, .upright = code.upright});
  DecodeRequest request{.region = {0, 0, size.width, size.height}, .upright = code.upright};
  if (code.alpha) {
    const ImageFormat* const format = image_format_of(bytes);
    if (format == nullptr || format->has_alpha == nullptr || !format->has_alpha(bytes))
      throw DataError("has no transparency, but 'alpha' is set, so that transparency is the mask");
    decode_image(bytes, request, 4, values);
    cv::extractChannel(values, values, 3);
    return values;
  }
  if (!are_colors && has_more_than_bytes(bytes)) {
    request.depth = Depth::kFloat;
    decode_image(bytes, request, 1, values);
    return bytes_of(values);
  }
  if (!are_colors && is_png(bytes)) {
    const auto palette = read_png_values(bytes, values);
    if (code.classes == 2 && !code.ignored) reject_inverted_palette(palette);
    Box all;
    if (code.upright) turn_upright(values, all, read_orientation(bytes));
    return values;
  }
  // The gray of a color is not a class number; in lossy files, a gray value may be only approximate.
  const bool is_lossy = is_jpeg(bytes) || is_webp(bytes);
  decode_image(bytes, request, are_colors || !is_lossy ? 3 : 1, values);
  return values;
}

/// True if all colors are gray: some programs store black and white masks this way.
bool is_gray(const cv::Mat& values) {
  if (values.channels() != 3) return false;
  const auto is_one_value = [](const cv::Vec3b& pixel) {
    return pixel[0] == pixel[1] && pixel[0] == pixel[2];
  };
  return std::all_of(values.begin<cv::Vec3b>(), values.end<cv::Vec3b>(), is_one_value);
}

}  // namespace

MaskReader::MaskReader(MaskCode code) : code_(std::move(code)) {
  class_of_value_.fill(-1);
  for (size_t value = 0; value < std::min<size_t>(code_.classes, 255); ++value)
    class_of_value_.at(value) = static_cast<int16_t>(value);
  if (code_.classes == 2) class_of_value_[255] = 1;
  if (code_.threshold)
    for (size_t value = 0; value < class_of_value_.size(); ++value)
      class_of_value_.at(value) = std::cmp_greater_equal(value, *code_.threshold) ? 1 : 0;
  if (code_.ignored) class_of_value_.at(static_cast<size_t>(*code_.ignored)) = kIgnoredPixel;
}

std::optional<uint8_t> MaskReader::class_of(const uint8_t* pixel, int channels) const {
  if (code_.colors.empty() && channels == 1) {
    const int16_t of_value = class_of_value_.at(pixel[0]);
    return of_value < 0 ? std::nullopt : std::optional(static_cast<uint8_t>(of_value));
  }
  const auto is_it = [pixel](const std::array<uint8_t, 3>& color) {
    return std::equal(color.begin(), color.end(), pixel);
  };
  const auto found = std::ranges::find_if(code_.colors, is_it);
  if (found == code_.colors.end()) return std::nullopt;
  return static_cast<uint8_t>(found - code_.colors.begin());
}

/// The message for a value or a color.
std::string MaskReader::not_a_class(const std::string& value, int channels) const {
  const std::string jpeg = " (a JPEG changes values: use PNG)";
  const std::string gray = "; for black and white with gray edges, write threshold: 128";
  if (code_.of_one_class) return "but a mask of one class may have only 0 and 1, or 0 and 255" + gray + jpeg;
  std::string which = "which is not one of the " + std::to_string(code_.classes) + " classes";
  if (channels != 1) return which;
  return which + "; list all classes, or write ignore: " + value +
         " for pixels that do not count (and ignore_label: 255 in costs and metrics)" +
         (code_.classes == 2 ? gray : "") + jpeg;
}

/// With two classes, 255 is either the second one or ignored.
void MaskReader::reject_two_ways(const std::string& path, const cv::Mat& values) const {
  if (code_.classes != 2 || code_.ignored || code_.threshold || !code_.colors.empty()) return;
  std::array<bool, 256> is_there{};
  for (int y = 0; y < values.rows; ++y)
    for (int x = 0; x < values.cols; ++x) is_there.at(values.at<uint8_t>(y, x)) = true;
  if (is_there[1] && is_there[255])
    throw FileError(path,
                    "has both 1 and 255, so the second class is ambiguous; if pixels of 255 do not count, "
                    "write ignore: 255, and ignore_label: 255 in costs and metrics");
}

bool MaskReader::read_numbers(const uint8_t* row, std::span<uint8_t> classes) const {
  int16_t least = 0;
  for (size_t x = 0; x < classes.size(); ++x) {
    const int16_t of_value = class_of_value_[row[x]];
    least = std::min(least, of_value);
    classes[x] = static_cast<uint8_t>(of_value);
  }
  return least >= 0;
}

void MaskReader::read(const std::string& path, ImageSize size, std::span<uint8_t> classes) const {
  cv::Mat values;
  try {
    const MappedFile file(path);
    values = values_of(file.bytes(), code_);
    check_mapped_files();  // as long as this file is mapped
  } catch (const DataError& error) {
    throw FileError(path, error.what());
  }
  const bool is_turned = values.cols == size.height && values.rows == size.width;
  if (values.cols != size.width || values.rows != size.height)
    throw FileError(path, "is a mask of " + ImageSize{values.cols, values.rows}.str() +
                              " pixels, but its image has " + size.str() +
                              (is_turned ? "; if the image is turned by its Exif data, and the mask was made "
                                           "for the stored image, set upright: false in ImagePairs"
                                         : ""));
  if (code_.colors.empty() && is_gray(values)) cv::extractChannel(values, values, 0);
  const int channels = values.channels();
  if (code_.colors.empty() && channels != 1)
    throw FileError(path,
                    "is a mask with colors; set the color of each class: colors: [[0, 0, 0], [255, 0, 0]]");
  if (channels == 1) reject_two_ways(path, values);
  const auto width = static_cast<size_t>(size.width);
  for (int y = 0; y < values.rows; ++y) {
    const uint8_t* row = values.ptr(y);
    const auto of_row = classes.subspan(static_cast<size_t>(y) * width, width);
    if (code_.colors.empty() && read_numbers(row, of_row)) continue;
    for (int x = 0; x < values.cols; ++x) {
      const auto known = class_of(row + static_cast<ptrdiff_t>(x) * channels, channels);
      if (!known) {
        const std::string value = text_of(row + static_cast<ptrdiff_t>(x) * channels, channels);
        throw FileError(path, "has " + std::string(channels == 1 ? "the value " : "the color ") + value +
                                  " at (" + std::to_string(x) + ", " + std::to_string(y) + "), " +
                                  not_a_class(value, channels));
      }
      of_row[static_cast<size_t>(x)] = *known;
    }
  }
}

}  // namespace tpack
