#include "ops/random_normal.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct RandomNormalLayerParams {
  Shape shape;
  double mean = 0;
  double stddev = 1;
};

/// Draws new numbers each step, also in inference; no gradient flows back. Shapes: x [N, ...] -> y [N,
/// shape...]; only the batch size of x is used.
class RandomNormalLayer final : public Layer {
 public:
  using Params = RandomNormalLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Random normal numbers for each sample, new ones each step.")
        .example("RandomNormal: {shape: [64]}")
        .field("shape", &Params::shape, "shape of one sample")
        .required()
        .field("mean", &Params::mean, "mean of the numbers")
        .field("stddev", &Params::stddev, at_least(0), "standard deviation of the numbers");
  }
  explicit RandomNormalLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol drawn = b.emit<RandomNormal>({with_batch_of(b, x, p_.shape), b.float_type()}, {}).out();
    const Symbol scaled = p_.stddev == 1 ? drawn : b.mul(drawn, p_.stddev);
    return p_.mean == 0 ? scaled : b.add(scaled, p_.mean);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, RandomNormalLayer, "RandomNormal");

}  // namespace
}  // namespace tpack
