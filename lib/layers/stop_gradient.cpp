#include "model/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same.
class StopGradientLayer final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x, but no gradient flows back to the layers before it.");
  }
  explicit StopGradientLayer(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return b.stop_gradient(x); }
};

TPACK_REGISTER(Layer, StopGradientLayer, "StopGradient");

}  // namespace
}  // namespace tpack
