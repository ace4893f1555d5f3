#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct RandomGrayscaleParams {
  float prob = 0.1F;
};

/// Source: torchvision transforms, RandomGrayscale.
class RandomGrayscale final : public Augmentor {
 public:
  using Params = RandomGrayscaleParams;
  static Schema<Params> schema() {
    return Schema<Params>("Makes some RGB images gray; they keep their three channels.")
        .example("RandomGrayscale: 0.2")
        .field("prob", &Params::prob, between(0, 1), "probability that an image becomes gray")

        .shorthand();
  }
  explicit RandomGrayscale(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return rng.uniform() < p_.prob ? make_saturation(0) : nullptr;
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override {
    return p_.prob < 1 ? nullptr : make_saturation(0);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomGrayscale, "RandomGrayscale");

}  // namespace
}  // namespace tpack
