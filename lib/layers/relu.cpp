#include "layers/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same.
class Relu final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = max(x, 0)."); }
  explicit Relu(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return b.max(x, 0.0); }
};

TPACK_REGISTER(Layer, Relu, "ReLU");

}  // namespace
}  // namespace tpack
