#include "ops/cumulative_sum.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct CumulativeSumLayerParams {
  int64_t axis = -1;
  bool reverse = false;
};

/// Shapes: x any -> y same.
class CumulativeSumLayer final : public Layer {
 public:
  using Params = CumulativeSumLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Cumulative sums along an axis; each includes its own element.")
        .example("CumulativeSum: {axis: 1}")
        .field("axis", &Params::axis, "axis to sum; 0 is the batch, -1 the last one")
        .field("reverse", &Params::reverse, "sum from the end");
  }
  explicit CumulativeSumLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return cumulative_sum(b, b.to_float(x), {axis_inside_samples(b, p_.axis, x), p_.reverse});
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, CumulativeSumLayer, "CumulativeSum");

}  // namespace
}  // namespace tpack
