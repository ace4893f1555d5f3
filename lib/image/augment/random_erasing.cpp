#include <cmath>
#include <utility>

#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

namespace tpack {
namespace {

struct RandomErasingParams {
  float prob = 0.5F;
  std::pair<float, float> area = {0.02F, 0.33F};
  std::pair<float, float> ratio = {0.3F, 3.3F};
  Fill value;
};

/// Source: Zhong et al. 2017, "Random Erasing Data Augmentation"; as in torchvision, the logarithm of the
/// ratio is uniform, and the image is not changed if ten rectangles do not fit into it.
class RandomErasing final : public RandomAugmentor {
 public:
  using Params = RandomErasingParams;
  static Schema<Params> schema() {
    return Schema<Params>("Fills a random rectangle with one value.")
        .example("RandomErasing: {prob: 0.8, area: [0.02, 0.2], value: 128}")
        .field("prob", &Params::prob, between(0, 1), "probability that a rectangle is filled")
        .field("area", &Params::area, between(0, 1),
               "share of the image that the rectangle covers, [least, most]")
        .field("ratio", &Params::ratio, between(0.01, 100),
               "height of the rectangle divided by its width, [least, most]")
        .field("value", &Params::value, between(0, 255),
               "fill color, as one number for all channels or one per channel");
  }
  explicit RandomErasing(Params p) : p_(std::move(p)) {
    check_range("RandomErasing", "area", p_.area);
    check_range("RandomErasing", "ratio", p_.ratio);
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
      return make_erase(cv::Rect(x, y, width, height), p_.value);
    }
    return nullptr;
  }
  Shape shape(const Shape& in) const override {
    p_.value.check(in);
    return in;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomErasing, "RandomErasing");

}  // namespace
}  // namespace tpack
