#include <utility>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct SharpnessParams {
  std::pair<float, float> factor_range = {1, 1};
};

/// Source: Pillow's ImageEnhance.Sharpness. Edges of the image are not changed.
class Sharpness final : public Augmentor {
 public:
  using Params = SharpnessParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Blurs or sharpens an image by a random factor: 0 blurs, 1 changes nothing, 2 sharpens.")
        .example("Sharpness: [0.5, 1.8]")
        .field("factor_range", &Params::factor_range, at_least(0), "the factor is in [low, high)")
        .required()
        .shorthand();
  }
  explicit Sharpness(Params p) : p_(std::move(p)) {
    check_range("Sharpness", "factor_range", p_.factor_range);
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return make_sharpness(rng.uniform(p_.factor_range.first, p_.factor_range.second));
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Sharpness, "Sharpness");

}  // namespace
}  // namespace tpack
