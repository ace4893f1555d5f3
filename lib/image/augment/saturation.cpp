#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct SaturationParams {
  float alpha = 0.4F;
};

/// Source: tensorpack imgaug/imgproc.py, Saturation.
class Saturation final : public Augmentor {
 public:
  using Params = SaturationParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Makes colors of RGB images stronger or weaker by a random factor; does not change gray "
               "images.")
        .example("Saturation: 0.3")
        .field("alpha", &Params::alpha, between(0, 1), "the factor is in [1 - alpha, 1 + alpha); 0 is gray")

        .shorthand();
  }
  explicit Saturation(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return make_saturation(1 + rng.uniform(-p_.alpha, p_.alpha));
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Saturation, "Saturation");

}  // namespace
}  // namespace tpack
