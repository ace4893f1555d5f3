#include <numeric>
#include <optional>

#include "layers/affine_norm.h"
#include "layers/layer_shapes.h"

namespace tpack {
namespace {

struct LayerNormParams : AffineNormParams {
  std::optional<int64_t> last_axes;
};

/// Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma [C]; with `last_axes`, x any -> y same; beta,
/// gamma of the sizes of these axes. Source: Ba et al. 2016, "Layer Normalization"; tensorpack
/// models/layer_norm.py.
class LayerNorm final : public Layer {
 public:
  using Params = LayerNormParams;
  static Schema<Params> schema() {
    return affine_norm_schema<LayerNormParams>(
               "Layer normalization: over all values of a sample, then one scale and offset for each "
               "channel.",
               "LayerNorm: {epsilon: 1.0e-3}")
        .field("last_axes", &Params::last_axes, at_least(1),
               "normalizes over so many last axes instead, with a scale and an offset for each of their "
               "elements: "
               "1 for [N, T, C], as in Transformers");
  }
  explicit LayerNorm(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    const auto rank = static_cast<int64_t>(x.shape().rank());
    check_float_input(b, x);
    if (p_.last_axes) {
      if (*p_.last_axes > rank)
        throw ShapeError(b.origin(), b.path() + ": 'last_axes' is " + std::to_string(*p_.last_axes) +
                                         ", but the input is " + x.spec().str());
      return affine_norm_of_last(b, x, static_cast<int>(*p_.last_axes), p_);
    }
    if (rank != 2 && rank != 4) {
      throw ShapeError(b.origin(), b.path() + ": needs an input [N, C, H, W] or [N, C], not " +
                                       x.spec().str() + "; for other inputs, set last_axes: 1");
    }
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
