#include "model/layer.h"
#include "ops/random_normal.h"

namespace tpack {
namespace {

struct NoiseLayerParams {
  double stddev = 0.1;
};

/// Shapes: x any floats -> y same. In inference the identity. Source: Keras, GaussianNoise.
class NoiseLayer final : public Layer {
 public:
  using Params = NoiseLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds normal random numbers in training, new ones each step.")
        .example("GaussianNoise: {stddev: 0.2}")
        .field("stddev", &Params::stddev, at_least(0), "standard deviation of the numbers")
        .shorthand();
  }
  explicit NoiseLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    if (!b.training() || p_.stddev == 0) return x;
    const Symbol values = b.to_float(x);
    const Symbol drawn = b.emit<RandomNormal>({values.shape(), b.float_type()}, {}).out();
    return b.add(values, b.mul(drawn, p_.stddev));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, NoiseLayer, "GaussianNoise");

}  // namespace
}  // namespace tpack
