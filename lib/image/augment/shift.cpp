#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

struct ShiftParams {
  float horiz_frac = 0;
  float vert_frac = 0;
  Border border;
};

/// Source: tensorpack imgaug/geometry.py, Shift.
class Shift final : public BorderedAugmentor<ShiftParams> {
 public:
  using Params = ShiftParams;
  static Schema<Params> schema() {
    return Schema<Params>("Moves an image by a random number of whole pixels; its size stays.")
        .example("Shift: {horiz_frac: 0.1, vert_frac: 0.1}")
        .field("horiz_frac", &Params::horiz_frac, between(0, 1),
               "largest move to the left or right, as a share of the width")
        .field("vert_frac", &Params::vert_frac, between(0, 1),
               "largest move up or down, as a share of the height")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit Shift(Params p) : BorderedAugmentor(std::move(p)) {
    if (p_.horiz_frac == 0 && p_.vert_frac == 0)
      throw ConfigError("Shift changes nothing; set horiz_frac: 0.1, vert_frac: 0.1 or both");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const auto pixels = [&](float share, int side) {
      return std::round(rng.uniform(-share, share) * static_cast<float>(side));
    };
    const float x = pixels(p_.horiz_frac, size.width);
    const float y = pixels(p_.vert_frac, size.height);
    return make_warp(translation(x, y), p_.border);
  }
};

TPACK_REGISTER(Augmentor, Shift, "Shift");

}  // namespace
}  // namespace tpack
