#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/concat.h"

namespace tpack {
namespace {

struct StackParams {
  int64_t axis = 1;
};

/// Shapes: inputs of one shape [...] -> [..., inputs, ...].
class Stack final : public Layer {
 public:
  using Params = StackParams;
  static Schema<Params> schema() {
    return Schema<Params>("Joins its inputs along a new axis: `input: [a, b]`.")
        .example("Stack: {axis: 1}")
        .field("axis", &Params::axis, "position of the new axis in the result; -1 is the last one");
  }
  explicit Stack(Params p) : p_(p) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    const auto rank = static_cast<int64_t>(in[0].shape().rank());
    const int64_t axis = p_.axis < 0 ? p_.axis + rank + 1 : p_.axis;
    if (axis < 0 || axis > rank)
      throw ShapeError(b.origin(), b.path() + ": 'axis' is " + std::to_string(p_.axis) + "; must be from " +
                                       std::to_string(-rank - 1) + " to " + std::to_string(rank));
    std::vector<Symbol> parts;
    for (const Symbol& x : in) {
      if (!(x.spec() == in[0].spec()))
        throw ShapeError(b.origin(), b.path() + ": all inputs must have the same shape and type, not " +
                                         in[0].spec().str() + " and " + x.spec().str());
      std::vector<int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
      sizes.insert(sizes.begin() + axis, 1);
      parts.push_back(b.reshape(x, Shape(sizes)));
    }
    return concat(b, parts, static_cast<int>(axis));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Stack, "Stack");

}  // namespace
}  // namespace tpack
