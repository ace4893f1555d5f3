#include "layers/layer.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

struct MaxPoolingParams {
  Size2 window = {2, 2};
  std::optional<Size2> stride;
  PaddingRule padding = PaddingRule::kValid;
};

/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
/// Source: tensorpack models/pool.py, whose padding is 'valid' by default.
class MaxPooling final : public Layer {
 public:
  using Params = MaxPoolingParams;
  static Schema<Params> schema() {
    return Schema<Params>("Largest element of each window.")
        .example("MaxPooling: {window: 3, stride: 2, padding: same}")
        .field("window", &Params::window, at_least(1), "size of the window, pixels")
        .field("stride", &Params::stride, at_least(1), "pixels between windows; default: the window's size")
        .field("padding", &Params::padding,
               "'valid': only whole windows; 'same': output size input / stride, rounded up");
  }
  explicit MaxPooling(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    if (x.shape().rank() != 4) {
      throw ShapeError(b.origin(),
                       b.path() + ": needs an input of 4 axes [N, C, H, W], not " + x.spec().str());
    }
    const Size2 stride = p_.stride.value_or(p_.window);
    const Size2 image{x.shape()[2], x.shape()[3]};
    return max_pool(b, x, {p_.window, stride, padding_for(p_.padding, image, p_.window, stride, {1, 1})});
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, MaxPooling, "MaxPooling");

}  // namespace
}  // namespace tpack
