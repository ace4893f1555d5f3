#include "ops/pad.h"

#include <utility>

#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/window.h"

namespace tpack {
namespace {

struct PadLayerParams {
  Padding2 image;
  std::pair<int64_t, int64_t> channels = {0, 0};
};

/// Shapes: x [N, C, H, W] -> y [N, before + C + after, top + H + bottom, left + W + right].
class PadLayer final : public Layer {
 public:
  using Params = PadLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds zeros around an image, and before and after its channels.")
        .example("Pad: {image: [1, 1, 2, 2], channels: [0, 3]}")
        .field("image", &Params::image, "rows and columns of zeros: [top, left, bottom, right]")
        .field("channels", &Params::channels, "channels of zeros [before, after]");
  }
  explicit PadLayer(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    nn::check_image(b, x);
    return pad(b, x, {0, p_.channels.first, p_.image.top, p_.image.left},
               {0, p_.channels.second, p_.image.bottom, p_.image.right});
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, PadLayer, "Pad");

}  // namespace
}  // namespace tpack
