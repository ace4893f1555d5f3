#include "layers/affine_norm.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y same; beta, gamma [C]. Source: Ulyanov et al. 2016, "Instance Normalization";
/// tensorpack models/layer_norm.py.
class InstanceNorm final : public Layer {
 public:
  using Params = AffineNormParams<nn::InstanceNormOptions>;
  static Schema<Params> schema() {
    return affine_norm_schema<nn::InstanceNormOptions>(
        "Instance normalization: normalizes each channel of each image, then applies one scale and offset "
        "per channel.",
        "InstanceNorm: {epsilon: 1.0e-3}");
  }
  explicit InstanceNorm(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::instance_norm(b, x, options_); }

 private:
  nn::InstanceNormOptions options_;
};

TPACK_REGISTER(Layer, InstanceNorm, "InstanceNorm");

}  // namespace
}  // namespace tpack
