#include "model/layer.h"
#include "nn/pooling.h"

namespace tpack {
namespace {

struct BlurPoolParams {
  Size2 stride = {2, 2};
};

/// Shapes: x [N, C, H, W] -> y [N, C, ceil(H/stride), ceil(W/stride)]. Source: Zhang 2019, "Making
/// Convolutional Networks Shift-Invariant Again", with the filter of size 3 and reflected borders.
class BlurPool final : public Layer {
 public:
  using Params = BlurPoolParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Blurs images with the weights 1/4, 1/2, 1/4 in both directions, reflected at the borders, "
               "then "
               "keeps one pixel of each stride. Instead of a stride in a convolution or pooling (which then "
               "has stride 1), it makes the result depend less on shifts of the image.")
        .example("BlurPool: {stride: 2}")
        .field("stride", &Params::stride, at_least(1), "input pixels per output pixel")
        .shorthand();
  }
  explicit BlurPool(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::blur_pooling(b, x, p_.stride); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, BlurPool, "BlurPool");

}  // namespace
}  // namespace tpack
