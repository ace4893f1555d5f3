#include "ops/random_uniform.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct RandomUniformLayerParams {
  Shape shape;
  double low = 0;
  double high = 1;
};

/// Draws new numbers each step, also in inference; no gradient flows back. Shapes: x [N, ...] -> y [N,
/// shape...]; only the batch size of x is used.
class RandomUniformLayer final : public Layer {
 public:
  using Params = RandomUniformLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Uniform random numbers for each sample, new ones each step.")
        .example("RandomUniform: {shape: [64], low: -1, high: 1}")
        .field("shape", &Params::shape, "shape of one sample; [] for one number")
        .required()
        .field("low", &Params::low, "smallest number")
        .field("high", &Params::high, "all numbers are below it");
  }
  explicit RandomUniformLayer(Params p) : p_(p) {
    if (!(p.low < p.high)) throw ConfigError("layer RandomUniform: 'low' must be below 'high'");
  }

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol drawn = random_uniform(b, with_batch_of(b, x, p_.shape));
    const double range = p_.high - p_.low;
    const Symbol scaled = range == 1 ? drawn : b.mul(drawn, range);
    return p_.low == 0 ? scaled : b.add(scaled, p_.low);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, RandomUniformLayer, "RandomUniform");

}  // namespace
}  // namespace tpack
