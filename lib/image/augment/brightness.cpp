#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct BrightnessParams {
  float delta = 0;
};

/// Source: tensorpack imgaug/imgproc.py, Brightness.
class Brightness final : public Augmentor {
 public:
  using Params = BrightnessParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds one random number to all pixels.")
        .example("Brightness: 30")
        .field("delta", &Params::delta, between(0, 255),
               "the number is in [-delta, delta); pixels are 0..255")
        .required()
        .shorthand();
  }
  explicit Brightness(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return make_linear_color(1, rng.uniform(-p_.delta, p_.delta));
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Brightness, "Brightness");

}  // namespace
}  // namespace tpack
