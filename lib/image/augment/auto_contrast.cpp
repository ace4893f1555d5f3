#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct AutoContrastParams {};

/// Source: Pillow's ImageOps.autocontrast.
class AutoContrast final : public Augmentor {
 public:
  using Params = AutoContrastParams;
  static Schema<Params> schema() {
    return Schema<Params>("Stretches each channel so that its values reach from 0 to 255.");
  }
  explicit AutoContrast(Params /*p*/) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override {
    return make_auto_contrast();
  }
};

TPACK_REGISTER(Augmentor, AutoContrast, "AutoContrast");

}  // namespace
}  // namespace tpack
