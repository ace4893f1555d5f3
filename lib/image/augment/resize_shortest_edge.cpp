#include <algorithm>
#include <cmath>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct ResizeShortestEdgeParams {
  int size = 0;
  Interpolation interp = Interpolation::kLinear;
};

/// Source: tensorpack imgaug/misc.py, ResizeShortestEdge; the longer side is rounded half up.
class ResizeShortestEdge final : public Augmentor {
 public:
  using Params = ResizeShortestEdgeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Resizes an image so that its shorter side has a given length, keeping the aspect ratio.")
        .example("ResizeShortestEdge: 256")
        .field("size", &Params::size, between(1, kMaxImageSide), "pixels of the shorter side")
        .required()
        .shorthand()
        .field("interp", &Params::interp, kInterpolationText);
  }
  explicit ResizeShortestEdge(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override {
    const ImageSize to = target(size);
    return to == size ? nullptr : make_resize(to, p_.interp);
  }
  Shape shape(const Shape& in) const override {
    if (in[0] == Shape::kUnknown || in[1] == Shape::kUnknown)
      return {Shape::kUnknown, Shape::kUnknown, in[2]};
    const ImageSize to = target({static_cast<int>(in[1]), static_cast<int>(in[0])});
    return {to.height, to.width, in[2]};
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> /*before*/) const override { return p_.size; }

 private:
  ImageSize target(ImageSize size) const {
    const double scale = static_cast<double>(p_.size) / std::min(size.width, size.height);
    const auto scaled = [scale](int side) { return static_cast<int>(std::floor(side * scale + 0.5)); };
    return {scaled(size.width), scaled(size.height)};
  }

  Params p_;
};

TPACK_REGISTER(Augmentor, ResizeShortestEdge, "ResizeShortestEdge");

}  // namespace
}  // namespace tpack
