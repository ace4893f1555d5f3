#include "layers/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same.
class Tanh final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = tanh(x)."); }
  explicit Tanh(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return b.tanh(x); }
};

TPACK_REGISTER(Layer, Tanh, "Tanh");

}  // namespace
}  // namespace tpack
