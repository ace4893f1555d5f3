#include "model/layer.h"
#include "nn/enlarge.h"

namespace tpack {

template <>
struct EnumNames<nn::ResizeMethod> {
  static constexpr std::array<std::pair<const char*, nn::ResizeMethod>, 2> kNames = {
      {{"bilinear", nn::ResizeMethod::kBilinear}, {"nearest", nn::ResizeMethod::kNearest}}};
};

namespace {

/// Shapes: x [N, C, H, W] -> y [N, C, H', W']. Source: PyTorch nn/functional.py, interpolate.
class ResizeLayer final : public Layer {
 public:
  using Params = nn::ResizeOptions;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Resizes images, for example to larger ones in a decoder. Same as PyTorch's interpolate, "
               "without antialiasing when an image shrinks.")
        .example("Resize: {scale: 2, method: nearest}")
        .field("size", &Params::size, at_least(1),
               "size of the result in pixels: [height, width], or one number for a square; default: computed "
               "from `scale`")
        .field("scale", &Params::scale, at_least(1), "output pixels per input pixel")
        .field("method", &Params::method, "bilinear, or the nearest pixel")
        .field("align_corners", &Params::align_corners,
               "for bilinear: true aligns the centers of the corner pixels; false aligns the corners of the "
               "image, as most networks today do");
  }
  explicit ResizeLayer(Params p) : p_(p) {
    if (p_.size && !(p_.scale == Params().scale))
      throw ConfigError(
          "layer Resize: 'size' and 'scale' both set the size of the result; remove one of them");
    if (p_.align_corners && p_.method == nn::ResizeMethod::kNearest)
      throw ConfigError("layer Resize: 'align_corners' applies only to method: bilinear; remove it");
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::resize(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ResizeLayer, "Resize", "Upsample", "UpSampling2D");

}  // namespace
}  // namespace tpack
