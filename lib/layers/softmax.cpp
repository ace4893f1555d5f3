#include "layers/layer.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

/// Shapes: x [N, C] -> y [N, C], rows sum to 1.
class Softmax final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Probabilities from scores, over the last axis."); }
  explicit Softmax(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return softmax(b, x); }
};

TPACK_REGISTER(Layer, Softmax, "Softmax");

}  // namespace
}  // namespace tpack
