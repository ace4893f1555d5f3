#include "layers/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same.
class Softplus final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = log(1 + exp(x))."); }
  explicit Softplus(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return b.softplus(x); }
};

TPACK_REGISTER(Layer, Softplus, "Softplus");

}  // namespace
}  // namespace tpack
