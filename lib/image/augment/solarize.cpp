#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct SolarizeParams {
  float threshold = 128;
};

/// Source: Pillow's ImageOps.solarize.
class Solarize final : public Augmentor {
 public:
  using Params = SolarizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Inverts the pixels that are at least as bright as a threshold.")
        .example("Solarize: 160")
        .field("threshold", &Params::threshold, between(0, 256),
               "pixels with at least this value become 255 - x")

        .shorthand();
  }
  explicit Solarize(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override {
    return make_solarize(p_.threshold);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Solarize, "Solarize");

}  // namespace
}  // namespace tpack
