#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct HueParams {
  float delta = 180;
};

/// Source: tensorpack imgaug/imgproc.py, Hue (there in the units of OpenCV, 2 degrees for 8 bits).
class Hue final : public Augmentor {
 public:
  using Params = HueParams;
  static Schema<Params> schema() {
    return Schema<Params>("Rotates the hues of RGB images by a random angle; does not change gray images.")
        .example("Hue: 18")
        .field("delta", &Params::delta, between(0, 180),
               "degrees; the angle is in [-delta, delta), and 180 gives any hue")

        .shorthand();
  }
  explicit Hue(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return make_hue_shift(rng.uniform(-p_.delta, p_.delta));
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Hue, "Hue");

}  // namespace
}  // namespace tpack
