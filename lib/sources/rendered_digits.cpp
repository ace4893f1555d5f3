#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include <opencv2/imgproc.hpp>

#include "core/registry.h"
#include "dataflow/source.h"
#include "dataflow/split.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

struct RenderedDigitsParams {
  Split split = Split::kTrain;
  std::optional<int64_t> size = {};
  int resolution = 28;
  float difficulty = 1;
};

constexpr int kGlyphPixels = 48;
constexpr int kDigits = 10;
constexpr std::array kStrokes = {1, 2, 3};  // widths, at twice kGlyphPixels: 2 w + 3

/// The digits of one font, drawn once and warped for each sample: white on black, kGlyphPixels wide and high.
struct Font {
  std::array<std::array<cv::Mat, kStrokes.size()>, kDigits> glyphs;
};

cv::Mat draw_glyph(int font, int digit, int stroke) {
  constexpr int kSide = 2 * kGlyphPixels;
  constexpr int kTextHeight = 60;
  const std::string text = std::to_string(digit);
  const int thickness = 2 * stroke + 3;
  const double scale = kTextHeight / static_cast<double>(cv::getTextSize("0", font, 1, 1, nullptr).height);
  const cv::Size extent = cv::getTextSize(text, font, scale, thickness, nullptr);
  cv::Mat large(kSide, kSide, CV_8U, cv::Scalar::all(0));
  const cv::Point origin((kSide - extent.width) / 2, (kSide + extent.height) / 2);
  cv::putText(large, text, origin, font, scale, cv::Scalar::all(255), thickness, cv::LINE_AA);
  cv::Mat glyph;
  cv::resize(large, glyph, {kGlyphPixels, kGlyphPixels}, 0, 0, cv::INTER_AREA);
  return glyph;
}

constexpr int kItalic = cv::FONT_ITALIC;
/// Only fonts whose digits differ from those of the others: OpenCV uses the digits of SIMPLEX for
/// SCRIPT_SIMPLEX, those of COMPLEX|ITALIC for SCRIPT_COMPLEX, and upright digits for the italic variants of
/// the other fonts.
constexpr std::array<int, 5> kTrainFonts = {
    cv::FONT_HERSHEY_SIMPLEX, cv::FONT_HERSHEY_PLAIN, cv::FONT_HERSHEY_COMPLEX_SMALL,
    cv::FONT_HERSHEY_COMPLEX | kItalic, cv::FONT_HERSHEY_TRIPLEX | kItalic};
/// Never used for training. They are similar to each other (COMPLEX and TRIPLEX differ in a few pixels), so
/// none of them may be used for training.
constexpr std::array<int, 3> kTestFonts = {cv::FONT_HERSHEY_DUPLEX, cv::FONT_HERSHEY_COMPLEX,
                                           cv::FONT_HERSHEY_TRIPLEX};

std::vector<Font> draw_fonts(Split split) {
  std::vector<Font> fonts;
  for (const int code : split == Split::kTrain ? std::span<const int>(kTrainFonts) : kTestFonts) {
    Font& font = fonts.emplace_back();
    for (int digit = 0; digit < kDigits; ++digit) {
      for (size_t stroke = 0; stroke < kStrokes.size(); ++stroke) {
        font.glyphs.at(static_cast<size_t>(digit)).at(stroke) = draw_glyph(code, digit, kStrokes.at(stroke));
      }
    }
  }
  return fonts;
}

/// Uniform in [-range, range).
float around_zero(Rng& rng, float range) { return rng.uniform(-range, range); }

/// From the glyph to an image of `side` pixels: scale, shear, rotation, position.
cv::Matx23d draw_warp(Rng& rng, int side, float difficulty) {
  const float angle = around_zero(rng, 18 * difficulty) * std::numbers::pi_v<float> / 180;
  const float shear = around_zero(rng, 0.2F * difficulty);
  const float unit = static_cast<float>(side) / kGlyphPixels;
  const float scale = unit * (1.0F - 0.25F * difficulty * rng.uniform());
  const float stretch = 1 + around_zero(rng, 0.15F * difficulty);
  const float cosine = std::cos(angle) * scale;
  const float sine = std::sin(angle) * scale;
  const cv::Matx22d linear(cosine * stretch, shear * cosine - sine, sine * stretch, shear * sine + cosine);
  constexpr double kMiddle = (kGlyphPixels - 1) / 2.0;
  const float room = 0.11F * difficulty * static_cast<float>(side);
  const double x = (side - 1) / 2.0 + static_cast<double>(around_zero(rng, room));
  const double y = (side - 1) / 2.0 + static_cast<double>(around_zero(rng, room));
  return {linear(0, 0), linear(0, 1), x - (linear(0, 0) + linear(0, 1)) * kMiddle,
          linear(1, 0), linear(1, 1), y - (linear(1, 0) + linear(1, 1)) * kMiddle};
}

/// The warped glyph, with linear interpolation, black around it. Written out because OpenCV's warp allocates
/// memory for each image.
void warp(const cv::Mat& glyph, const cv::Matx23d& forward, cv::Mat& out) {
  const double determinant = forward(0, 0) * forward(1, 1) - forward(0, 1) * forward(1, 0);
  const auto part = [&](int r, int c) { return static_cast<float>(forward(r, c) / determinant); };
  const float xx = part(1, 1);
  const float xy = -part(0, 1);
  const float yx = -part(1, 0);
  const float yy = part(0, 0);
  const auto at = [&glyph](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < glyph.cols && y < glyph.rows;
    return inside ? static_cast<float>(*glyph.ptr(y, x)) : 0.0F;
  };
  for (int y = 0; y < out.rows; ++y) {
    uint8_t* row = out.ptr(y);
    for (int x = 0; x < out.cols; ++x) {
      const float dx = static_cast<float>(x) - static_cast<float>(forward(0, 2));
      const float dy = static_cast<float>(y) - static_cast<float>(forward(1, 2));
      const float u = xx * dx + xy * dy;
      const float v = yx * dx + yy * dy;
      const int left = static_cast<int>(std::floor(u));
      const int top = static_cast<int>(std::floor(v));
      const float a = u - static_cast<float>(left);
      const float b = v - static_cast<float>(top);
      const float upper = at(left, top) * (1 - a) + at(left + 1, top) * a;
      const float lower = at(left, top + 1) * (1 - a) + at(left + 1, top + 1) * a;
      row[x] = cv::saturate_cast<uint8_t>(upper * (1 - b) + lower * b);
    }
  }
}

/// Short strokes near the border, like those of neighboring digits.
void add_clutter(cv::Mat& ink, Rng& rng, float difficulty) {
  const int side = ink.cols;
  const auto count = static_cast<int>(difficulty * 3.5F * rng.uniform());
  for (int i = 0; i < count; ++i) {
    const float angle = rng.uniform(0, 2 * std::numbers::pi_v<float>);
    const float radius = static_cast<float>(side) * rng.uniform(0.47F, 0.65F);
    const float middle = static_cast<float>(side) / 2;
    const cv::Point from(static_cast<int>(middle + radius * std::cos(angle)),
                         static_cast<int>(middle + radius * std::sin(angle)));
    const int reach = side / 5;
    const cv::Point to = from + cv::Point(rng.range(-reach, reach), rng.range(-reach, reach));
    cv::line(ink, from, to, cv::Scalar::all(rng.range(80, 255)), rng.range(1, 2), cv::LINE_AA);
  }
}

/// Ink on paper: the brightness of both, a gradient of light, and grain.
void develop(const cv::Mat& ink, uint8_t* out, Rng& rng, float difficulty) {
  const float paper = 60 * difficulty * rng.uniform();
  const float contrast = (255 - paper) * (1 - 0.5F * difficulty * rng.uniform());
  const float slope_x = around_zero(rng, 40 * difficulty) / static_cast<float>(ink.cols);
  const float slope_y = around_zero(rng, 40 * difficulty) / static_cast<float>(ink.rows);
  const float grain = 20 * difficulty * rng.uniform();
  const float middle = static_cast<float>(ink.cols) / 2;
  for (int y = 0; y < ink.rows; ++y) {
    const uint8_t* row = ink.ptr(y);
    const float light = paper + slope_y * (static_cast<float>(y) - middle);
    for (int x = 0; x < ink.cols; ++x) {
      const uint32_t bits = rng.next();
      // The sum of four uniform bytes, centered: close enough to normal, and four times cheaper.
      const auto sum =
          static_cast<float>((bits & 255U) + ((bits >> 8U) & 255U) + ((bits >> 16U) & 255U) + (bits >> 24U));
      const float noise = grain * (sum - 510) / 148;
      const float value = light + slope_x * (static_cast<float>(x) - middle) + noise +
                          contrast * static_cast<float>(row[x]) / 255.0F;
      *out++ = cv::saturate_cast<uint8_t>(value);
    }
  }
}

/// An endless supply of digits that needs no files. A training sample is never drawn twice, because its key
/// includes the pass.
class RenderedDigits final : public RandomAccessSource {
 public:
  using Params = RenderedDigitsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Draws gray images of digits in many fonts, sizes and positions.")
        .example("RenderedDigits: {split: test, size: 1000}")
        .field("split", &Params::split,
               "train: new images in every pass; test: always the same images, in fonts that look different "
               "from those of train")
        .field("size", &Params::size, between(1, 1e12),
               "images per pass; default: 20,000 (train) or 5,000 (test)")
        .field("resolution", &Params::resolution, between(16, 128), "side of an image, pixels")
        .field(
            "difficulty", &Params::difficulty, between(0, 2),
            "strength of rotation, shear, shift, lighting, clutter and noise; 0: upright digits, black and "
            "white");
  }
  explicit RenderedDigits(Params p) : p_(p) {}

  Spec spec() const override {
    std::vector<std::string> classes;
    for (int digit = 0; digit < kDigits; ++digit) classes.push_back(std::to_string(digit));
    return {{"image", {DType::kUInt8, {p_.resolution, p_.resolution, 1}}, true},
            {"label", {DType::kInt32, {}}, false, classes}};
  }
  int64_t size() const override { return p_.size.value_or(p_.split == Split::kTrain ? 20000 : 5000); }
  void prepare() override { fonts_ = draw_fonts(p_.split); }

  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    // The test images do not depend on the seed, the pass or the position in the flow.
    const SampleKey fixed{0, {0, index, 0}, stable_hash("RenderedDigits test")};
    Rng rng = p_.split == Split::kTest ? fixed.rng() : key.rng();
    const auto digit = static_cast<size_t>(rng.below(kDigits));
    const Font& font = fonts_[rng.below(static_cast<uint32_t>(fonts_.size()))];
    const cv::Mat& glyph = font.glyphs.at(digit).at(rng.below(kStrokes.size()));
    cv::Mat ink = pooled_mat(p_.resolution, p_.resolution, CV_8U);
    warp(glyph, draw_warp(rng, p_.resolution, p_.difficulty), ink);
    add_clutter(ink, rng, p_.difficulty);
    develop(ink, out.renew(0, {DType::kUInt8, {p_.resolution, p_.resolution, 1}}).data<uint8_t>(), rng,
            p_.difficulty);
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = static_cast<int32_t>(digit);
  }

 private:
  Params p_;
  std::vector<Font> fonts_;
};

TPACK_REGISTER(Source, RenderedDigits, "RenderedDigits");

}  // namespace
}  // namespace tpack
