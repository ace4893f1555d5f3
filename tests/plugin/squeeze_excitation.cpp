// A layer with variables, made of functions of nn.
#include <algorithm>

#include "model/layer.h"
#include "nn/nn.h"

namespace tpack {
namespace {

struct SqueezeExcitationParams {
  int64_t reduction = 4;
};

/// Scales each channel by a factor from 0 to 1, which two dense layers compute from the means of all
/// channels. Shapes: x [N, C, H, W] -> y same; squeeze/W [C, units], excite/W [units, C] with units = C /
/// reduction, at least 1. Source: Hu et al. 2018, "Squeeze-and-Excitation Networks".
class SqueezeExcitation final : public Layer {
 public:
  using Params = SqueezeExcitationParams;
  static Schema<Params> schema() {
    return Schema<Params>("Scales each channel by what all channels have on average.")
        .field("reduction", &Params::reduction, at_least(1), "channels per unit of the first dense layer");
  }
  explicit SqueezeExcitation(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol means = nn::global_avg_pooling(b, x);  // [N, C]
    const int64_t channels = x.shape()[1];
    const int64_t units = std::max<int64_t>(channels / p_.reduction, 1);
    const Symbol squeezed = nn::dense(b, means, "squeeze", {.units = units, .activation = nn::relu});
    const Symbol factors = b.sigmoid(nn::dense(b, squeezed, "excite", {.units = channels}));  // [N, C]
    return b.mul(x, b.reshape(factors, {x.shape()[0], channels, 1, 1}));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, SqueezeExcitation, "SqueezeExcitation");

}  // namespace
}  // namespace tpack
