#include <vector>

#include "model/layer.h"
#include "ops/concat.h"

namespace tpack {
namespace {

struct OrdinalProbabilitiesParams {};

/// P(class k) = P(above k - 1) - P(above k), clamped to at least 0, then divided by their sum; P(above k) is
/// the sigmoid of x_k. Shapes: x [N, C - 1] -> y [N, C]. Source: see the cost OrdinalCrossEntropy.
class OrdinalProbabilities final : public Layer {
 public:
  using Params = OrdinalProbabilitiesParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Probabilities of ordered classes from the scores of their borders; train with OrdinalCrossEntropy.");
  }
  explicit OrdinalProbabilities(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override {
    if (x.shape().rank() != 2)
      throw ShapeError(b.origin(),
                       "OrdinalProbabilities takes scores [N, classes - 1]; got " + x.shape().str());
    const Symbol above = b.sigmoid(x);
    const Symbol one = b.constant(Tensor::of<double>({1, 1}, {1}).cast(b.float_type()));
    const Symbol ones = b.broadcast_to(one, {x.shape()[0], 1});
    const Symbol zeros = b.mul(ones, 0.0);
    const Symbol at_least = concat(b, std::vector{ones, above}, 1);
    const Symbol beyond = concat(b, std::vector{above, zeros}, 1);
    const Symbol parts = b.max(b.sub(at_least, beyond), 0.0);
    const Symbol sum = b.reduce_sum(parts, {1}, Builder::Keep::kYes);
    return b.declare(b.div(parts, sum), kClassProbabilities);
  }
};

TPACK_REGISTER(Layer, OrdinalProbabilities, "OrdinalProbabilities");

}  // namespace
}  // namespace tpack
