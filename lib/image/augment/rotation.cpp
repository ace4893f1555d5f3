#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

struct RotationParams {
  float max_deg = 0;
  std::pair<float, float> center_range = {0, 1};
  std::optional<float> step;
  Border border;
};

/// Source: tensorpack imgaug/geometry.py, Rotation (there, `step` works only with a `max_deg` of 180).
class Rotation final : public BorderedAugmentor<RotationParams> {
 public:
  using Params = RotationParams;
  static Schema<Params> schema() {
    return Schema<Params>("Rotates an image by a random angle around a random point; its size stays.")
        .example("Rotation: {max_deg: 15, center_range: [0.4, 0.6]}")
        .field("max_deg", &Params::max_deg, between(0, 180),
               "the angle is in [-max_deg, max_deg) degrees; above 0 is counterclockwise")
        .required()
        .shorthand()
        .field("center_range", &Params::center_range, between(0, 1),
               "range of the center of rotation, as [low, high) shares of width and height; [0.5, 0.5] is "
               "the middle")
        .field("step", &Params::step, above(0),
               "only angles -max_deg, -max_deg + step, ... up to max_deg are drawn; null: any angle")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit Rotation(Params p) : BorderedAugmentor(std::move(p)) {
    check_range("Rotation", "center_range", p_.center_range);
    if (p_.step && *p_.step > 2 * p_.max_deg)
      throw ConfigError("Rotation: 'step' must be at most twice 'max_deg'");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const auto share = [&] { return rng.uniform(p_.center_range.first, p_.center_range.second); };
    const double x = share() * static_cast<float>(size.width);
    const double y = share() * static_cast<float>(size.height);
    return make_warp(around({x, y}, rotation(angle(rng))), p_.border);
  }

 private:
  float angle(Rng& rng) const {
    if (!p_.step) return rng.uniform(-p_.max_deg, p_.max_deg);
    const int last = static_cast<int>(std::floor(2 * p_.max_deg / *p_.step + 1e-4F));
    return -p_.max_deg + *p_.step * static_cast<float>(rng.range(0, last));
  }
};

TPACK_REGISTER(Augmentor, Rotation, "Rotation");

}  // namespace
}  // namespace tpack
