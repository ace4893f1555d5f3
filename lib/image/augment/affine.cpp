#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

struct AffineParams {
  std::pair<float, float> scale = {1, 1};
  std::pair<float, float> translate_frac = {0, 0};
  float rotate_max_deg = 0;
  float shear = 0;
  Border border;
};

/// Source: tensorpack imgaug/geometry.py, Affine.
class Affine final : public BorderedAugmentor<AffineParams> {
 public:
  using Params = AffineParams;
  static Schema<Params> schema() {
    return Schema<Params>("Scales, shears, rotates and moves an image by random amounts; its size stays.")
        .example(
            "Affine: {scale: [0.8, 1.2], translate_frac: [0.1, 0.1], rotate_max_deg: 15, shear: 10, border: "
            "0}")
        .field("scale", &Params::scale, above(0), "a factor in [low, high), around the middle of the image")
        .field("translate_frac", &Params::translate_frac, between(0, 1),
               "largest shift in both directions, as shares of [width, height]")
        .field("rotate_max_deg", &Params::rotate_max_deg, between(0, 180),
               "the image is rotated by up to this many degrees in both directions")
        .field("shear", &Params::shear, between(0, 80),
               "vertical lines are slanted by up to this many degrees in both directions")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit Affine(Params p) : BorderedAugmentor(std::move(p)) {
    check_range("Affine", "scale", p_.scale);
    const std::pair<float, float> none = {0, 0};
    const std::pair<float, float> same = {1, 1};
    if (p_.scale == same && p_.translate_frac == none && p_.rotate_max_deg == 0 && p_.shear == 0)
      throw ConfigError("Affine changes nothing; set one of its fields, such as rotate_max_deg: 15");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const double scale = rng.uniform(p_.scale.first, p_.scale.second);
    const auto within = [&](float most) { return rng.uniform(-most, most); };
    const double x = within(p_.translate_frac.first) * static_cast<float>(size.width);
    const double y = within(p_.translate_frac.second) * static_cast<float>(size.height);
    const cv::Matx33d rotated = rotation(within(p_.rotate_max_deg));
    const double slant = std::tan(within(p_.shear) * std::numbers::pi / 180);
    const cv::Matx33d scaled_and_sheared = {scale, scale * slant, 0, 0, scale, 0, 0, 0, 1};
    return make_warp(translation(x, y) * around(middle_of(size), rotated * scaled_and_sheared), p_.border);
  }
};

TPACK_REGISTER(Augmentor, Affine, "Affine");

}  // namespace
}  // namespace tpack
