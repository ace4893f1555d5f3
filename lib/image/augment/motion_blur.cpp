#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <opencv2/imgproc.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

class Smear final : public Transform {
 public:
  /// The filter is a line through its middle; pixels that it crosses partly have a smaller weight.
  Smear(double length, double angle) {
    const int reach = static_cast<int>(std::ceil(length / 2));
    const double along_x = std::cos(angle);
    const double along_y = std::sin(angle);
    kernel_ = cv::Mat::zeros(2 * reach + 1, 2 * reach + 1, CV_32F);
    for (int y = -reach; y <= reach; ++y) {
      for (int x = -reach; x <= reach; ++x) {
        const double away = std::abs(x * along_y - y * along_x);
        const double along = std::abs(x * along_x + y * along_y);
        kernel_.at<float>(y + reach, x + reach) =
            static_cast<float>(std::max(0.0, 1 - away) * std::clamp((length + 1) / 2 - along, 0.0, 1.0));
      }
    }
    kernel_ /= cv::sum(kernel_)[0];
  }
  void image(cv::Mat& m) const override {
    cv::Mat out = pooled_mat();
    cv::filter2D(m, out, -1, kernel_, {-1, -1}, 0, cv::BORDER_REPLICATE);
    m = out;
  }

 private:
  cv::Mat kernel_;
};

struct MotionBlurParams {
  std::pair<float, float> length = {3, 7};
  float max_deg = 90;
};

/// Source: Albumentations, MotionBlur, with a line through the middle of the filter.
class MotionBlur final : public RandomAugmentor {
 public:
  using Params = MotionBlurParams;
  static Schema<Params> schema() {
    return Schema<Params>("Blurs an image along a line, as if the camera had moved.")
        .example("MotionBlur: {length: [3, 11], max_deg: 20}")
        .field("length", &Params::length, between(1, 200), "length of the line in pixels, in [low, high)")
        .shorthand()
        .field("max_deg", &Params::max_deg, between(0, 90),
               "the line is turned by up to this many degrees from the horizontal, in both directions");
  }
  explicit MotionBlur(Params p) : p_(std::move(p)) { check_range("MotionBlur", "length", p_.length); }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    const float length = rng.uniform(p_.length.first, p_.length.second);
    const double angle = rng.uniform(-p_.max_deg, p_.max_deg) * std::numbers::pi / 180;
    return std::make_unique<Smear>(length, angle);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, MotionBlur, "MotionBlur");

}  // namespace
}  // namespace tpack
