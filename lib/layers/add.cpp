#include "model/layer.h"

namespace tpack {
namespace {

/// Shapes: two or more inputs of one shape -> the same shape.
class Add final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Sum of its inputs: `input: [a, b]`."); }
  explicit Add(Params /*p*/) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    Symbol sum = in[0];
    for (const Symbol& x : in.subspan(1)) {
      if (!(x.shape() == sum.shape())) {
        throw ShapeError(b.origin(), b.path() + ": adds " + sum.spec().str() + " and " + x.spec().str() +
                                         "; their shapes must be equal");
      }
      sum = b.add(sum, x);
    }
    return sum;
  }
};

TPACK_REGISTER(Layer, Add, "Add");

}  // namespace
}  // namespace tpack
