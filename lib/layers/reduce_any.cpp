#include "layers/reduce.h"

namespace tpack {
namespace {

/// Shapes: x [...] -> y without the axes, or with size 1 there. No gradient flows back.
class ReduceAny final : public Layer {
 public:
  using Params = ReduceLayerParams;
  static Schema<Params> schema() {
    return reduce_schema("1 where any element over axes is not 0, else 0.", "ReduceAny: {axes: [2, 3]}");
  }
  explicit ReduceAny(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Symbol is_set = b.sub(1.0, b.to_float(b.equal(x, 0.0)));
    return b.reduce_max(is_set, axes_of(b, p_.axes, x), p_.keep());
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ReduceAny, "ReduceAny");

}  // namespace
}  // namespace tpack
