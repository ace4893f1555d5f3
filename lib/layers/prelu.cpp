#include "model/layer.h"
#include "nn/activation.h"

namespace tpack {
namespace {

/// Shapes: x any, with `per_channel` [N, C, ...] -> y same; alpha [], or [C]. The gradient at 0 is that of
/// negative inputs. Source: He et al. 2015, "Delving Deep into Rectifiers"; tensorpack models/nonlin.py.
class Prelu final : public Layer {
 public:
  using Params = nn::PreluOptions;
  static Schema<Params> schema() {
    return Schema<Params>(
               "y = x if x > 0 else x * alpha, with a trained alpha: one for the layer, or one for each "
               "channel. PyTorch's PReLU begins at 0.25.")
        .example("PReLU: {init: 0.25, per_channel: true}")
        .field("init", &Params::init, "initial value of alpha")
        .field("per_channel", &Params::per_channel, "an alpha for each channel (axis 1)");
  }
  explicit Prelu(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::prelu(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Prelu, "PReLU");

}  // namespace
}  // namespace tpack
