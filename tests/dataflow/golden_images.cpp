#include "dataflow/golden_images.h"

#include <array>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "image/format/image_codec.h"
#include "support/paths.h"

namespace tpack {
namespace {

std::vector<uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t value = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    value = value << 6U | static_cast<uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<uint8_t>(value >> static_cast<unsigned>(bits)));
  }
  return bytes;
}

cv::Mat deep_pixels(const std::vector<uint8_t>& bytes, int width, int height, int channels) {
  cv::Mat out(height, width, CV_16UC(channels));
  for (size_t i = 0; i < bytes.size() / 2; ++i)
    out.ptr<uint16_t>()[i] = static_cast<uint16_t>(bytes[2 * i] << 8U | bytes[2 * i + 1]);
  return out;
}

/// Of 8 bits, from base64.
cv::Mat golden_pixels(const nlohmann::json& text, int width, int height, int channels) {
  std::vector<uint8_t> bytes = from_base64(text);
  return cv::Mat(height, width, CV_8UC(channels), bytes.data()).clone();
}

const nlohmann::json& golden_json() {
  static const auto kept = [] {
    std::ifstream in(source_folder() + "/tests/golden/images.json");
    return nlohmann::json::parse(in);
  }();
  return kept;
}

std::vector<GoldenImage> read_golden_images() {
  std::map<std::string, cv::Mat> pixels;
  std::vector<GoldenImage> all;
  for (const auto& one : golden_json().at("cases")) {
    GoldenImage image{.name = one.at("name"), .file = from_base64(one.at("file"))};
    const int width = one.at("size").at(0);
    const int height = one.at("size").at(1);
    if (one.contains("rgb")) pixels[image.name] = golden_pixels(one.at("rgb"), width, height, 3);
    if (one.contains("rgba")) image.rgba = golden_pixels(one.at("rgba"), width, height, 4);
    if (one.contains("onto")) image.onto = golden_pixels(one.at("onto"), width, height, 3);
    image.rgb = pixels.at(one.value("same_as", image.name));
    image.off_by = one.value("off_by", 0);
    if (one.contains("deep"))
      image.deep = deep_pixels(from_base64(one.at("deep")), width, height, one.at("deep_channels"));
    all.push_back(std::move(image));
  }
  return all;
}

/// Flipped bits, sizes that the header does not have, truncated files.
std::vector<uint8_t> mutated(std::vector<uint8_t> file, std::mt19937& random) {
  const auto below = [&random](size_t end) { return random() % end; };
  constexpr std::array<uint8_t, 6> kExtremes = {0, 1, 0x7F, 0x80, 0xFF, '9'};
  const size_t changes = 1 + below(3);
  for (size_t i = 0; i < changes; ++i) {
    const bool in_header = below(2) == 0;
    const size_t at = below(in_header ? std::min<size_t>(file.size(), 64) : file.size());
    if (below(3) == 0)
      file[at] = kExtremes.at(below(kExtremes.size()));
    else
      file[at] ^= static_cast<uint8_t>(1U << below(8));
  }
  if (below(8) == 0) file.resize(1 + below(file.size()));
  return file;
}

}  // namespace

const std::vector<GoldenImage>& golden_images() {
  static const std::vector<GoldenImage> kept = read_golden_images();
  return kept;
}

Background golden_background() {
  const auto& rgb = golden_json().at("background");
  return {{rgb.at(0).get<uint8_t>(), rgb.at(1).get<uint8_t>(), rgb.at(2).get<uint8_t>()}};
}

const GoldenImage& golden_image(const std::string& name) {
  return *std::ranges::find(golden_images(), name, &GoldenImage::name);
}

const std::vector<GoldenNumbers>& golden_numbers() {
  static const std::vector<GoldenNumbers> kept = [] {
    std::vector<GoldenNumbers> all;
    for (const auto& one : golden_json().at("numbers")) {
      std::vector<uint8_t> values = from_base64(one.at("values"));
      const int channels = one.at("channels");
      const cv::Mat pixels(one.at("size").at(1), one.at("size").at(0), CV_32FC(channels), values.data());
      all.push_back({one.at("name"), from_base64(one.at("file")), pixels.clone()});
    }
    return all;
  }();
  return kept;
}

const std::vector<GoldenClip>& golden_clips() {
  static const std::vector<GoldenClip> kept = [] {
    std::vector<GoldenClip> all;
    for (const auto& one : golden_json().at("clips")) {
      GoldenClip clip{one.at("name"), from_base64(one.at("file")), {}};
      const auto frames_of = [&one](const char* kind, int channels) {
        std::vector<cv::Mat> frames;
        for (const auto& frame : one.value(kind, nlohmann::json::array()))
          frames.push_back(golden_pixels(frame, one.at("size").at(0), one.at("size").at(1), channels));
        return frames;
      };
      clip.frames = frames_of("frames", 3);
      clip.rgba = frames_of("rgba", 4);
      clip.onto = frames_of("onto", 3);
      all.push_back(std::move(clip));
    }
    return all;
  }();
  return kept;
}

void mutate(const std::vector<uint8_t>& original,
            const std::function<cv::Mat(const std::vector<uint8_t>&, const Region&, int64_t)>& read,
            int64_t rounds) {
  std::mt19937 random(1);
  constexpr int64_t kMostPixels = 100'000;  // larger ones take time, and no other path
  for (int64_t i = 0; i < rounds; ++i) {
    const std::vector<uint8_t> file = mutated(original, random);
    try {
      const ImageSize size = read_image_header(file);
      if (int64_t{size.width} * size.height > kMostPixels) continue;
      const cv::Mat out = read(file, {0, 0, size.width, size.height}, i);
      EXPECT_EQ(out.cols, size.width);
      EXPECT_EQ(out.rows, size.height);
    } catch (const DataError&) {
    }
  }
}

}  // namespace tpack
