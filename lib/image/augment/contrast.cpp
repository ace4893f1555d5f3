#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

/// y = (x - mean) * factor + mean, with a mean for each channel, rounded and clamped.
class Stretch final : public Transform {
 public:
  explicit Stretch(float factor) : factor_(factor) {}
  void image(cv::Mat& m) const override {
    by_depth(m, [&](auto zero) { stretch<decltype(zero)>(m); });
  }

 private:
  template <class T>
  void stretch(cv::Mat& m) const {
    const cv::Scalar mean = cv::mean(m);
    const int channels = m.channels();
    for (int y = 0; y < m.rows; ++y) {
      T* row = m.ptr<T>(y);
      for (int x = 0; x < m.cols * channels; ++x) {
        const auto middle = static_cast<float>(mean[x % channels]);
        row[x] = cv::saturate_cast<T>((static_cast<float>(row[x]) - middle) * factor_ + middle);
      }
    }
  }

  float factor_;
};

struct ContrastParams {
  std::pair<float, float> factor_range = {1, 1};
};

/// Source: tensorpack imgaug/imgproc.py, Contrast without `rgb` (a mean for each channel).
class Contrast final : public RandomAugmentor {
 public:
  using Params = ContrastParams;
  static Schema<Params> schema() {
    return Schema<Params>("Stretches pixels around the mean of their channel by a random factor.")
        .example("Contrast: [0.8, 1.2]")
        .field("factor_range", &Params::factor_range, "the factor is in [low, high)")
        .required()
        .shorthand();
  }
  explicit Contrast(Params p) : p_(std::move(p)) {
    if (p_.factor_range.first < 0 || p_.factor_range.first > p_.factor_range.second) {
      throw ConfigError("Contrast: 'factor_range' must be [low, high] with 0 <= low <= high");
    }
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return std::make_unique<Stretch>(rng.uniform(p_.factor_range.first, p_.factor_range.second));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Contrast, "Contrast");

}  // namespace
}  // namespace tpack
