#include "image/format/image_formats.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "core/text.h"

namespace tpack {
namespace {

constexpr std::array kFormats = {
    ImageFormat{"JPEG", {".jpg", ".jpeg"}, is_jpeg, read_jpeg_header, decode_jpeg},
    ImageFormat{"PNG", {".png"}, is_png, read_png_header, decode_png, is_16_bit_png, nullptr, has_png_alpha},
    ImageFormat{
        "GIF", {".gif"}, is_gif, read_gif_header, decode_gif, nullptr, decode_gif_frames, has_gif_alpha},
    ImageFormat{"BMP", {".bmp"}, is_bmp, read_bmp_header, decode_bmp},
    ImageFormat{"TIFF",
                {".tif", ".tiff"},
                is_tiff,
                read_tiff_header,
                decode_tiff,
                is_deep_tiff,
                decode_tiff_pages,
                has_tiff_alpha},
    ImageFormat{"WebP",
                {".webp"},
                is_webp,
                read_webp_header,
                decode_webp,
                nullptr,
                decode_webp_frames,
                has_webp_alpha},
    ImageFormat{"PNM", {".pbm", ".pgm", ".ppm", ".pnm"}, is_pnm, read_pnm_header, decode_pnm, is_deep_pnm},
};

std::string alternatives(std::vector<std::string> words) {
  const std::string last = words.back();
  words.pop_back();
  return join(words, ", ") + " or " + last;
}

}  // namespace

const ImageFormat* image_format_of(EncodedBytes bytes) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(),
                                         [bytes](const ImageFormat& format) { return format.is(bytes); });
  return found == kFormats.end() ? nullptr : found;
}

bool has_more_than_bytes(EncodedBytes bytes) {
  const ImageFormat* const format = image_format_of(bytes);
  const bool is_deep = format != nullptr && format->is_deep != nullptr && format->is_deep(bytes);
  return is_deep || (is_tiff(bytes) && has_tiff_numbers(bytes));
}

const ImageFormat* image_format_of_name(std::string_view path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending.empty()) return nullptr;
  const auto* const found =
      std::find_if(kFormats.begin(), kFormats.end(), [&ending](const ImageFormat& format) {
        return std::find(format.endings.begin(), format.endings.end(), ending) != format.endings.end();
      });
  return found == kFormats.end() ? nullptr : found;
}

std::string image_format_names() {
  std::vector<std::string> names;
  for (const ImageFormat& format : kFormats) names.emplace_back(format.name);
  return alternatives(names);
}

std::string image_file_endings() {
  std::vector<std::string> endings;
  for (const ImageFormat& format : kFormats)
    for (const std::string_view ending : format.endings)
      if (!ending.empty()) endings.emplace_back(ending);
  return alternatives(endings);
}

}  // namespace tpack
