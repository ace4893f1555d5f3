#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct InvertParams {};

/// Source: Pillow's ImageOps.invert.
class Invert final : public Augmentor {
 public:
  using Params = InvertParams;
  static Schema<Params> schema() { return Schema<Params>("Replaces each value x by 255 - x."); }
  explicit Invert(Params /*p*/) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override { return make_invert(); }
};

TPACK_REGISTER(Augmentor, Invert, "Invert");

}  // namespace
}  // namespace tpack
