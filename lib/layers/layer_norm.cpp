#include <numeric>

#include "layers/affine_norm.h"
#include "layers/layer_shapes.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma [C]. Source: Ba et al. 2016, "Layer
/// Normalization"; tensorpack models/layer_norm.py.
class LayerNorm final : public Layer {
 public:
  using Params = AffineNormParams;
  static Schema<Params> schema() {
    return affine_norm_schema(
        "Layer normalization: over all values of a sample, then one scale and offset for each channel.",
        "LayerNorm: {epsilon: 1.0e-3}");
  }
  explicit LayerNorm(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    if (x.shape().rank() != 2 && x.shape().rank() != 4) {
      throw ShapeError(b.origin(),
                       b.path() + ": needs an input [N, C, H, W] or [N, C], not " + x.spec().str());
    }
    check_float_input(b, x);
    std::vector<int> axes(x.shape().rank() - 1);
    std::iota(axes.begin(), axes.end(), 1);
    return affine_norm(b, x, axes, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, LayerNorm, "LayerNorm");

}  // namespace
}  // namespace tpack
