#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/random_uniform.h"

namespace tpack {
namespace {

struct RandomBernoulliParams {
  Shape shape;
  double probability = 0.5;
};

/// Draws new numbers each step, also in inference; no gradient flows back. Shapes: x [N, ...] -> y [N,
/// shape...], floats; only the batch size of x is used.
class RandomBernoulli final : public Layer {
 public:
  using Params = RandomBernoulliParams;
  static Schema<Params> schema() {
    return Schema<Params>("1 with a probability, else 0, for each sample, new ones each step.")
        .example("RandomBernoulli: {shape: [8], probability: 0.9}")
        .field("shape", &Params::shape, "shape of one sample; [] for one number")
        .required()
        .field("probability", &Params::probability, between(0, 1), "of 1");
  }
  explicit RandomBernoulli(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return b.to_float(b.greater(p_.probability, random_uniform(b, with_batch_of(b, x, p_.shape))));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, RandomBernoulli, "RandomBernoulli");

}  // namespace
}  // namespace tpack
