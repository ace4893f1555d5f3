#include <utility>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

class Blur final : public Transform {
 public:
  Blur(int side, double sigma) : side_(side), sigma_(sigma) {}
  void image(cv::Mat& m) const override {
    cv::Mat out = pooled_mat();
    cv::GaussianBlur(m, out, {side_, side_}, sigma_, sigma_, cv::BORDER_REPLICATE);
    m = out;
  }

 private:
  int side_;
  double sigma_;
};

struct GaussianBlurParams {
  std::pair<int, int> size_range = {0, 3};
  std::pair<float, float> sigma_range = {0, 0};
};

/// Source: tensorpack imgaug/imgproc.py, GaussianBlur with `symmetric=True`.
class GaussianBlur final : public RandomAugmentor {
 public:
  using Params = GaussianBlurParams;
  static Schema<Params> schema() {
    return Schema<Params>("Blurs an image with a filter of random size.")
        .example("GaussianBlur: {size_range: [1, 4], sigma_range: [0.5, 2]}")
        .field("size_range", &Params::size_range, between(0, 100),
               "the filter reaches k pixels in each direction, with k in [low, high); 0 blurs nothing")
        .shorthand()
        .field(
            "sigma_range", &Params::sigma_range, between(0, 100),
            "standard deviation of the filter, in [low, high) pixels; 0: computed from k as 0.3 * k + 0.5");
  }
  explicit GaussianBlur(Params p) : p_(std::move(p)) {
    if (p_.size_range.first >= p_.size_range.second)
      throw ConfigError("GaussianBlur: 'size_range' is [low, high) with low < high");
    check_range("GaussianBlur", "sigma_range", p_.sigma_range);
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    const int reach = rng.range(p_.size_range.first, p_.size_range.second - 1);
    const float sigma = rng.uniform(p_.sigma_range.first, p_.sigma_range.second);
    if (reach == 0) return nullptr;
    // OpenCV's own choice is 0.3 * (reach - 1) + 0.8.
    return std::make_unique<Blur>(2 * reach + 1, sigma);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, GaussianBlur, "GaussianBlur");

}  // namespace
}  // namespace tpack
