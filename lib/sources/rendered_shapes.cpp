#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <opencv2/imgproc.hpp>

#include "core/registry.h"
#include "dataflow/source.h"
#include "dataflow/split.h"

namespace tpack {
namespace {

struct RenderedShapesParams {
  Split split = Split::kTrain;
  std::optional<int64_t> size = {};
  int resolution = 64;
  float noise = 1;
};

const std::array<const char*, 4> kNames = {"background", "circle", "square", "triangle"};

/// The corners of a regular polygon; many for a circle.
std::vector<cv::Point> corners_of(int corners, cv::Point2f middle, float radius, float angle) {
  std::vector<cv::Point> all;
  for (int i = 0; i < corners; ++i) {
    const float at =
        angle + 2 * std::numbers::pi_v<float> * static_cast<float>(i) / static_cast<float>(corners);
    all.emplace_back(static_cast<int>(std::lround(middle.x + radius * std::cos(at))),
                     static_cast<int>(std::lround(middle.y + radius * std::sin(at))));
  }
  return all;
}

/// An endless supply of pictures with masks that needs no files. A training sample is never drawn twice,
/// because its key includes the pass.
class RenderedShapes final : public RandomAccessSource {
 public:
  using Params = RenderedShapesParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Draws circles, squares and triangles of random colors on a noisy background, with a mask of "
               "their classes, for segmentation without files.")
        .example("RenderedShapes: {split: test, size: 200}")
        .field("split", &Params::split, "train: new images in every pass; test: always the same images")
        .field("size", &Params::size, between(1, 1e12),
               "images per pass; default: 4,000 (train) or 500 (test)")
        .field("resolution", &Params::resolution, between(16, 1024), "side of an image, pixels")
        .field("noise", &Params::noise, between(0, 10), "strength of the noise; 0: none");
  }
  explicit RenderedShapes(Params p) : p_(p) {}

  Spec spec() const override {
    ComponentSpec mask{"mask", {DType::kUInt8, Shape{p_.resolution, p_.resolution}}};
    mask.classes.assign(kNames.begin(), kNames.end());
    mask.annotation = Annotation::kMask;
    return {{"image", {DType::kUInt8, {p_.resolution, p_.resolution, 3}}, true}, mask};
  }
  int64_t size() const override { return p_.size.value_or(p_.split == Split::kTrain ? 4000 : 500); }

  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    // The test images do not depend on the seed, the pass or the position in the flow.
    const SampleKey fixed{0, {0, index, 0}, stable_hash("RenderedShapes test")};
    Rng rng = p_.split == Split::kTest ? fixed.rng() : key.rng();
    const int side = p_.resolution;
    cv::Mat image(side, side, CV_8UC3, out.renew(0, {DType::kUInt8, {side, side, 3}}).raw());
    cv::Mat mask(side, side, CV_8UC1, out.renew(1, {DType::kUInt8, Shape{side, side}}).raw());
    const cv::Scalar ground = color(rng);
    image.setTo(ground);
    mask.setTo(0);
    const auto count = 1 + rng.below(3);
    for (uint32_t i = 0; i < count; ++i) draw(rng, ground, image, mask);
    add_noise(rng, image);
  }

 private:
  static cv::Scalar color(Rng& rng) {
    return {static_cast<double>(rng.below(256)), static_cast<double>(rng.below(256)),
            static_cast<double>(rng.below(256))};
  }
  /// A color that differs from the background: one channel by a quarter of its range.
  static cv::Scalar color_on(Rng& rng, const cv::Scalar& ground) {
    while (true) {
      cv::Scalar found = color(rng);
      for (int channel = 0; channel < 3; ++channel)
        if (std::abs(found[channel] - ground[channel]) >= 64) return found;
    }
  }
  void draw(Rng& rng, const cv::Scalar& ground, cv::Mat& image, cv::Mat& mask) const {
    constexpr std::array kCorners = {40, 4, 3};  // by class, from 1
    const auto kind = rng.below(3);
    const auto side = static_cast<float>(p_.resolution);
    const float radius = side * rng.uniform(0.12F, 0.28F);
    const cv::Point2f middle(side * rng.uniform(0.15F, 0.85F), side * rng.uniform(0.15F, 0.85F));
    const float angle = rng.uniform(0, 2 * std::numbers::pi_v<float>);
    const std::vector<cv::Point> corners = corners_of(kCorners.at(kind), middle, radius, angle);
    cv::fillConvexPoly(image, corners, color_on(rng, ground), cv::LINE_8);
    cv::fillConvexPoly(mask, corners, cv::Scalar::all(kind + 1), cv::LINE_8);
  }
  void add_noise(Rng& rng, cv::Mat& image) const {
    const auto grain = static_cast<int>(std::lround(p_.noise * static_cast<float>(rng.range(2, 24))));
    if (grain == 0) return;
    for (int y = 0; y < image.rows; ++y) {
      uint8_t* row = image.ptr(y);
      for (int x = 0; x < image.cols * 3; ++x) {
        const uint32_t bits = rng.next();
        const int noise = static_cast<int>((bits & 255U) + ((bits >> 8U) & 255U)) - 255;
        row[x] = cv::saturate_cast<uint8_t>(row[x] + noise * grain / 128);
      }
    }
  }

  Params p_;
};

TPACK_REGISTER(Source, RenderedShapes, "RenderedShapes");

}  // namespace
}  // namespace tpack
