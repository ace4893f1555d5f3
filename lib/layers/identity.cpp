#include "model/layer.h"

namespace tpack {
namespace {

/// Shapes: x any -> y same. Useful as an activation or to name an output.
class Identity final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = x."); }
  explicit Identity(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override {
    (void)b;
    return x;
  }
};

TPACK_REGISTER(Layer, Identity, "Identity");

}  // namespace
}  // namespace tpack
