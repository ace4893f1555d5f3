#include "ops/arg_max.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct ArgMaxLayerParams {
  int64_t axis = -1;
};

/// No gradient flows back. Shapes: x [..., n, ...] -> y int32 [..., ...], without the axis.
class ArgMaxLayer final : public Layer {
 public:
  using Params = ArgMaxLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Index of the largest element along an axis; the first one if several are equal.")
        .example("ArgMax: {axis: 1}")
        .field("axis", &Params::axis, "axis to search; 0 is the batch, -1 the last one");
  }
  explicit ArgMaxLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return b.emit<ArgMax>({axis_of(b, p_.axis, x)}, {b.to_float(x)}).out();
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ArgMaxLayer, "ArgMax");

}  // namespace
}  // namespace tpack
