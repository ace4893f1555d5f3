#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct ColorJitterParams {
  float brightness = 0;
  float contrast = 0;
  float saturation = 0;
  float hue = 0;
};

/// Source: torchvision transforms, ColorJitter.
class ColorJitter final : public RandomAugmentor {
 public:
  using Params = ColorJitterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Changes brightness, contrast, saturation and hue by random amounts, in random order.")
        .example("ColorJitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1}")
        .field("brightness", &Params::brightness, at_least(0),
               "pixels are multiplied by a factor in [1 - brightness, 1 + brightness), at least 0")
        .field("contrast", &Params::contrast, at_least(0),
               "the same for differences from the mean gray of the image")
        .field("saturation", &Params::saturation, at_least(0),
               "the same for differences of colors from their gray; does not change gray images")
        .field("hue", &Params::hue, between(0, 0.5),
               "hues are rotated by up to this share of the circle in both directions; does not change gray "
               "images");
  }
  explicit ColorJitter(Params p) : p_(p) {
    if (p_.brightness == 0 && p_.contrast == 0 && p_.saturation == 0 && p_.hue == 0)
      throw ConfigError("ColorJitter changes nothing; set one of its fields, such as brightness: 0.4");
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    const auto factor = [&](float most) { return rng.uniform(std::max(0.0F, 1 - most), 1 + most); };
    std::vector<std::unique_ptr<Transform>> parts;
    if (p_.brightness > 0) parts.push_back(make_linear_color(factor(p_.brightness), 0));
    if (p_.contrast > 0) parts.push_back(make_gray_contrast(factor(p_.contrast)));
    if (p_.saturation > 0) parts.push_back(make_saturation(factor(p_.saturation)));
    if (p_.hue > 0) parts.push_back(make_hue_shift(360 * rng.uniform(-p_.hue, p_.hue)));
    shuffle(parts, rng);
    return make_sequence(std::move(parts));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, ColorJitter, "ColorJitter");

}  // namespace
}  // namespace tpack
