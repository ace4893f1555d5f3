// Image files of each format: the size, then pixels.
#include <algorithm>
#include <array>
#include <cctype>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "dataflow/golden_images.h"
#include "fuzz/parsers.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "image/image.h"

namespace tpack::fuzz {
namespace {

/// The bits of the first byte of an input.
struct Wish {
  ImageForm form;
  bool is_part = false;  // of the image, at a reduced size
};

Wish take_wish(Input& input) {
  const size_t bits = take_choice(input, 256);
  constexpr std::array kColors = {Color::kRgb, Color::kGray, Color::kRgba, Color::kRgb};
  constexpr std::array kDepths = {Depth::k8, Depth::k16, Depth::kFloat, Depth::k8};
  Wish wish;
  wish.form.color = kColors.at(bits % 4);
  wish.form.depth = kDepths.at(bits / 4 % 4);
  wish.form.frames = bits / 16 % 2 == 1 ? 3 : 1;
  wish.form.upright = bits / 32 % 2 == 0;
  wish.is_part = bits / 64 % 2 == 1;
  if (bits / 128 == 1) wish.form.background = {{0, 128, 7}};
  return wish;
}

void decode(Input input, const Wish& wish) {
  constexpr int64_t kMostPixels = 100'000;  // larger ones take time, and no other path
  Image image;
  std::ranges::copy(input, image.encoded_buffer(input.size()).begin());
  image.header_known(wish.form);
  const auto [width, height] = image.size();
  if (int64_t{width} * height * wish.form.frames > kMostPixels) return;
  if (wish.is_part && wish.form.frames == 1) {
    const Region part{width / 3, height / 4, (width + 1) / 2, (height + 1) / 2};
    image.decode({.region = part, .shrinks_by = 4});
    return;
  }
  const cv::Mat& pixels = image.pixels();
  if (pixels.cols != width || pixels.rows != height) broken_promise("the size is not the one in the header");
}

void parse_image(std::string_view format, Input input) {
  const Wish wish = take_wish(input);
  const ImageFormat* const found = image_format_of(input);
  if (found == nullptr || found->name != format) return;
  decode(input, wish);
  const ImageSize size = read_image_header(input);
  const bool is_deep = has_more_than_bytes(input);
  if (int64_t{size.width} * size.height > 10'000) return;
  shows_background(input);
  cv::Mat values;
  if (is_png(input) && !is_deep) read_png_values(input, values);
}

/// The form of the golden files: 8 bits, one frame.
std::vector<Bytes> image_seeds(std::string_view format) {
  std::vector<Bytes> files;
  const auto add = [&](const Bytes& file) {
    if (image_format_of(file)->name == format) files.push_back(file);
  };
  for (const GoldenImage& one : golden_images()) add(one.file);
  for (const GoldenNumbers& one : golden_numbers()) add(one.file);
  for (const GoldenClip& one : golden_clips()) add(one.file);
  std::vector<Bytes> seeds;
  for (const int wish : {0, 8, 0x12, 0x40, 0x84})
    for (Bytes file : files) {
      file.insert(file.begin(), static_cast<uint8_t>(wish));
      seeds.push_back(std::move(file));
    }
  return seeds;
}

}  // namespace

std::vector<Parser> image_parsers() {
  std::vector<Parser> all;
  for (const std::string_view format : {"BMP", "GIF", "JPEG", "PNG", "PNM", "TIFF", "WebP"}) {
    std::string name(format);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    all.push_back({name, [format](Input input) { parse_image(format, input); },
                   [format] { return image_seeds(format); }});
  }
  return all;
}

}  // namespace tpack::fuzz
