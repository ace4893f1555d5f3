#include "layers/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same.
class Sigmoid final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = 1 / (1 + exp(-x))."); }
  explicit Sigmoid(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return b.sigmoid(x); }
};

TPACK_REGISTER(Layer, Sigmoid, "Sigmoid");

}  // namespace
}  // namespace tpack
