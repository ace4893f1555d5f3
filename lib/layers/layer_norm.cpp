#include "layers/affine_norm.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma [C]; with `last_axes`, x any -> y same; beta,
/// gamma with the sizes of these axes. Source: Ba et al. 2016, "Layer Normalization"; tensorpack
/// models/layer_norm.py.
class LayerNorm final : public Layer {
 public:
  using Params = AffineNormParams<nn::LayerNormOptions>;
  static Schema<Params> schema() {
    return affine_norm_schema<nn::LayerNormOptions>(
               "Layer normalization: normalizes over all values of a sample, then applies one scale and "
               "offset per channel.",
               "LayerNorm: {epsilon: 1.0e-3}")
        .field("last_axes", option<Params>(&Params::last_axes), at_least(1),
               "number of last axes to normalize over instead, with a scale and an offset for each of their "
               "elements: 1 for [N, T, C], as in Transformers");
  }
  explicit LayerNorm(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::layer_norm(b, x, options_); }

 private:
  nn::LayerNormOptions options_;
};

TPACK_REGISTER(Layer, LayerNorm, "LayerNorm");

}  // namespace
}  // namespace tpack
