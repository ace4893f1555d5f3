#include "layers/affine_norm.h"
#include "layers/layer_shapes.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y same; beta, gamma [C]. Source: Ulyanov et al. 2016, "Instance Normalization";
/// tensorpack models/layer_norm.py.
class InstanceNorm final : public Layer {
 public:
  using Params = AffineNormParams;
  static Schema<Params> schema() {
    return affine_norm_schema(
        "Instance normalization: over each channel of each image, then one scale and offset for each "
        "channel.",
        "InstanceNorm: {epsilon: 1.0e-3}");
  }
  explicit InstanceNorm(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    check_image(b, x);
    check_float_input(b, x);
    return affine_norm(b, x, {2, 3}, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, InstanceNorm, "InstanceNorm");

}  // namespace
}  // namespace tpack
