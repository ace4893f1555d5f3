#include <algorithm>
#include <cmath>
#include <utility>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomResizeParams {
  std::pair<float, float> x_range;
  std::pair<float, float> y_range;
  Extent minimum = {1, 1};
  float aspect_ratio_thres = 0.15F;
  Interpolation interp = Interpolation::kLinear;
};

/// Source: tensorpack imgaug/misc.py, RandomResize with ranges of factors. There, `minimum` may be 0.
class RandomResize final : public RandomAugmentor {
 public:
  using Params = RandomResizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Resizes an image by random factors.")
        .example("RandomResize: {x_range: [0.5, 1.2], y_range: [0.5, 1.2], minimum: 160}")
        .field("x_range", &Params::x_range, between(0.01, 100), "the factor for the width is in [low, high)")
        .required()
        .field("y_range", &Params::y_range, between(0.01, 100), "the factor for the height is in [low, high)")
        .required()
        .field("minimum", &Params::minimum,
               "the result is at least this large: [height, width], or one number for both")
        .field("aspect_ratio_thres", &Params::aspect_ratio_thres, at_least(0),
               "largest relative change of the aspect ratio; 0 keeps the ratio and uses the factor of the "
               "width. If fifty draws change it more, the image is not resized")
        .field("interp", &Params::interp, kInterpolationText);
  }
  explicit RandomResize(Params p) : p_(std::move(p)) {
    check_range("RandomResize", "x_range", p_.x_range);
    check_range("RandomResize", "y_range", p_.y_range);
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    constexpr int kTries = 50;
    for (int i = 0; i < kTries; ++i) {
      const float across = rng.uniform(p_.x_range.first, p_.x_range.second);
      const float down =
          p_.aspect_ratio_thres == 0 ? across : rng.uniform(p_.y_range.first, p_.y_range.second);
      const ImageSize to = {scaled(size.width, across, p_.minimum.width),
                            scaled(size.height, down, p_.minimum.height)};
      const double before = static_cast<double>(size.width) / size.height;
      const double after = static_cast<double>(to.width) / to.height;
      const bool is_kept =
          p_.aspect_ratio_thres == 0 || std::abs(after / before - 1) <= p_.aspect_ratio_thres;
      if (is_kept) return to == size ? nullptr : make_resize(to, p_.interp);
    }
    return nullptr;
  }
  Shape shape(const Shape& in) const override { return {Shape::kUnknown, Shape::kUnknown, in[2]}; }
  std::optional<int64_t> shorter_side(std::optional<int64_t> /*before*/) const override {
    return std::nullopt;
  }

 private:
  static int scaled(int side, float factor, int minimum) {
    const auto to = static_cast<int>(std::lround(static_cast<float>(side) * factor));
    return std::clamp(to, minimum, std::max(minimum, kMaxImageSide));
  }

  Params p_;
};

TPACK_REGISTER(Augmentor, RandomResize, "RandomResize");

}  // namespace
}  // namespace tpack
