#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct ResizeParams {
  Extent shape;
  Interpolation interp = Interpolation::kLinear;
};

/// Source: tensorpack imgaug/misc.py, Resize.
class Resize final : public Augmentor {
 public:
  using Params = ResizeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Resizes an image without keeping its aspect ratio.")
        .example("Resize: {shape: [224, 320], interp: cubic}")
        .field("shape", &Params::shape, "output size: [height, width], or one number for a square")
        .required()
        .shorthand()
        .field("interp", &Params::interp, kInterpolationText);
  }
  explicit Resize(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override {
    if (size == p_.shape.size()) return nullptr;
    return make_resize(p_.shape.size(), p_.interp);
  }
  Shape shape(const Shape& in) const override { return {p_.shape.height, p_.shape.width, in[2]}; }
  std::optional<int64_t> shorter_side(std::optional<int64_t> /*before*/) const override {
    return p_.shape.shorter();
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Resize, "Resize");

}  // namespace
}  // namespace tpack
