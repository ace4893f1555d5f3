#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct EqualizeParams {};

/// Source: Pillow's ImageOps.equalize.
class Equalize final : public Augmentor {
 public:
  using Params = EqualizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Makes all values of each channel about as frequent as each other.");
  }
  explicit Equalize(Params /*p*/) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override { return make_equalize(); }
};

TPACK_REGISTER(Augmentor, Equalize, "Equalize");

}  // namespace
}  // namespace tpack
