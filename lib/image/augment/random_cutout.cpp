#include <algorithm>
#include <utility>

#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

namespace tpack {
namespace {

struct RandomCutoutParams {
  std::pair<int, int> h_range;
  std::pair<int, int> w_range;
  Fill fill;
};

/// Source: tensorpack imgaug/misc.py, RandomCutout; DeVries and Taylor 2017, "Improved Regularization of
/// Convolutional Neural Networks with Cutout" (there, a part of the square may be outside of the image).
class RandomCutout final : public RandomAugmentor {
 public:
  using Params = RandomCutoutParams;
  static Schema<Params> schema() {
    return Schema<Params>("Fills a rectangle of random size at a random position.")
        .example("RandomCutout: {h_range: [8, 16], w_range: [8, 16], fill: 128}")
        .field("h_range", &Params::h_range, between(1, kMaxImageSide),
               "height of the rectangle in pixels, [least, most]; at most the height of the image")
        .required()
        .field("w_range", &Params::w_range, between(1, kMaxImageSide),
               "width of the rectangle in pixels, [least, most]; at most the width of the image")
        .required()
        .field("fill", &Params::fill, between(0, 255),
               "fill color, as one number for all channels or one per channel");
  }
  explicit RandomCutout(Params p) : p_(std::move(p)) {
    check_range("RandomCutout", "h_range", p_.h_range);
    check_range("RandomCutout", "w_range", p_.w_range);
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const int height = std::min(rng.range(p_.h_range.first, p_.h_range.second), size.height);
    const int width = std::min(rng.range(p_.w_range.first, p_.w_range.second), size.width);
    const int x = rng.range(0, size.width - width);
    const int y = rng.range(0, size.height - height);
    return make_erase(cv::Rect(x, y, width, height), p_.fill);
  }
  Shape shape(const Shape& in) const override {
    p_.fill.check(in);
    return in;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomCutout, "RandomCutout");

}  // namespace
}  // namespace tpack
