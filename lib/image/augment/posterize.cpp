#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct PosterizeParams {
  int bits = 0;
};

/// Source: Pillow's ImageOps.posterize.
class Posterize final : public Augmentor {
 public:
  using Params = PosterizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Keeps only the upper bits of each channel.")
        .example("Posterize: 3")
        .field("bits", &Params::bits, between(1, 8), "number of bits kept, of 8")
        .required()
        .shorthand();
  }
  explicit Posterize(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override {
    return make_posterize(p_.bits);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Posterize, "Posterize");

}  // namespace
}  // namespace tpack
