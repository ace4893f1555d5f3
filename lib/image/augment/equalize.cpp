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
  static Schema<Params> schema() { return Schema<Params>("Equalizes the histogram of each channel."); }
  explicit Equalize(Params /*p*/) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override { return make_equalize(); }
};

TPACK_REGISTER(Augmentor, Equalize, "Equalize");

}  // namespace
}  // namespace tpack
