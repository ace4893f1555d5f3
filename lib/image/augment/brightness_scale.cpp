#include <utility>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct BrightnessScaleParams {
  std::pair<float, float> factor_range = {1, 1};
};

/// Source: tensorpack imgaug/imgproc.py, BrightnessScale.
class BrightnessScale final : public Augmentor {
 public:
  using Params = BrightnessScaleParams;
  static Schema<Params> schema() {
    return Schema<Params>("Multiplies all pixels by one random factor.")
        .example("BrightnessScale: [0.6, 1.4]")
        .field("factor_range", &Params::factor_range, at_least(0), "the factor is in [low, high)")
        .required()
        .shorthand();
  }
  explicit BrightnessScale(Params p) : p_(std::move(p)) {
    check_range("BrightnessScale", "factor_range", p_.factor_range);
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return make_linear_color(rng.uniform(p_.factor_range.first, p_.factor_range.second), 0);
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, BrightnessScale, "BrightnessScale");

}  // namespace
}  // namespace tpack
