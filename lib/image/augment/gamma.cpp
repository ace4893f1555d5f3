#include <algorithm>
#include <cmath>
#include <utility>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct GammaParams {
  std::pair<float, float> range = {-0.5F, 0.5F};
};

/// Source: tensorpack imgaug/imgproc.py, Gamma.
class Gamma final : public Augmentor {
 public:
  using Params = GammaParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Makes dark pixels brighter or darker: pixels of 0..1 get the exponent 1 / (1 + g), with a "
               "random g.")
        .example("Gamma: [-0.3, 0.3]")
        .field("range", &Params::range, between(-0.99, 100), "g is in [low, high); above 0 is brighter")

        .shorthand();
  }
  explicit Gamma(Params p) : p_(std::move(p)) { check_range("Gamma", "range", p_.range); }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    const double exponent = 1 / (1.0 + rng.uniform(p_.range.first, p_.range.second));
    return make_value_map(
        [exponent](double x) { return 255 * std::pow(std::clamp(x / 255, 0.0, 1.0), exponent); });
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override { return nullptr; }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Gamma, "Gamma");

}  // namespace
}  // namespace tpack
