#include <vector>

#include "layers/reduce.h"
#include "ops/concat.h"
#include "ops/pad.h"

namespace tpack {
namespace {

/// The product over an axis, which stays with size 1: multiplies halves, so that factors of 0 have the right
/// gradient.
Symbol product(Builder& b, Symbol x, int axis) {
  while (x.shape()[axis] > 1) {
    const int64_t size = x.shape()[axis];
    const Shape half = x.shape().with(axis, size / 2);
    std::vector<int64_t> begin(x.shape().rank(), 0);
    const Symbol first = slice(b, x, begin, half);
    begin[static_cast<size_t>(axis)] = size / 2;
    Symbol halves = b.mul(first, slice(b, x, begin, half));
    if (size % 2 != 0) {
      begin[static_cast<size_t>(axis)] = size - 1;
      const std::vector<Symbol> parts = {halves, slice(b, x, begin, x.shape().with(axis, 1))};
      halves = concat(b, parts, axis);
    }
    x = halves;
  }
  return x;
}

/// Shapes: x [...] -> y without the axes, or with size 1 there.
class ReduceProd final : public Layer {
 public:
  using Params = ReduceLayerParams;
  static Schema<Params> schema() { return reduce_schema("Product over axes.", "ReduceProd: {axes: [1]}"); }
  explicit ReduceProd(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    std::vector<int> axes = axes_of(b, p_.axes, x);
    if (axes.empty()) {
      for (int axis = 0; axis < static_cast<int>(x.shape().rank()); ++axis) axes.push_back(axis);
    }
    Symbol y = b.to_float(x);
    for (const int axis : axes) y = product(b, y, axis);
    return b.reduce_sum(y, axes, p_.keep());  // over axes of size 1: removes them
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ReduceProd, "ReduceProd");

}  // namespace
}  // namespace tpack
