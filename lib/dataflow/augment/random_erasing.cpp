#include <cmath>
#include <string>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/augment/augmentor.h"

namespace tpack {
namespace {

class Erase final : public Transform {
 public:
  Erase(const cv::Rect& rectangle, int value) : rectangle_(rectangle), value_(value) {}
  void image(cv::Mat& m) const override { m(rectangle_).setTo(cv::Scalar::all(value_ * pixel_unit(m))); }

 private:
  cv::Rect rectangle_;
  int value_;
};

struct RandomErasingParams {
  float prob = 0.5F;
  std::pair<float, float> area = {0.02F, 0.33F};
  std::pair<float, float> ratio = {0.3F, 3.3F};
  int value = 0;
};

/// Source: Zhong et al. 2017, "Random Erasing Data Augmentation"; as in torchvision, the logarithm of the
/// ratio is uniform, and an image is left as it is if ten rectangles do not fit into it.
class RandomErasing final : public Augmentor {
 public:
  using Params = RandomErasingParams;
  static Schema<Params> schema() {
    return Schema<Params>("Fills a random rectangle with one value.")
        .example("RandomErasing: {prob: 0.8, area: [0.02, 0.2], value: 128}")
        .field("prob", &Params::prob, between(0, 1), "probability that a rectangle is filled")
        .field("area", &Params::area, between(0, 1),
               "share of the image that the rectangle covers, [least, most]")
        .field("ratio", &Params::ratio, between(0.01, 100), "its height divided by its width, [least, most]")
        .field("value", &Params::value, between(0, 255), "what it is filled with, in all channels");
  }
  explicit RandomErasing(Params p) : p_(std::move(p)) {
    for (const auto& [name, range] : {std::pair("area", p_.area), std::pair("ratio", p_.ratio)}) {
      if (range.first > range.second)
        throw ConfigError(std::string("augmentor RandomErasing: '") + name +
                          "' is [least, most]; exchange the two numbers");
    }
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    if (rng.uniform() >= p_.prob) return nullptr;
    constexpr int kTries = 10;
    for (int i = 0; i < kTries; ++i) {
      const float pixels = static_cast<float>(size.width) * static_cast<float>(size.height) *
                           rng.uniform(p_.area.first, p_.area.second);
      const float ratio = std::exp(rng.uniform(std::log(p_.ratio.first), std::log(p_.ratio.second)));
      const auto height = static_cast<int>(std::lround(std::sqrt(pixels * ratio)));
      const auto width = static_cast<int>(std::lround(std::sqrt(pixels / ratio)));
      if (height > size.height || width > size.width) continue;
      const int x = rng.range(0, size.width - width);
      const int y = rng.range(0, size.height - height);
      return std::make_unique<Erase>(cv::Rect(x, y, width, height), p_.value);
    }
    return nullptr;
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomErasing, "RandomErasing");

}  // namespace
}  // namespace tpack
