#include "ops/gather.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct GatherLayerParams {
  int64_t axis = 0;
};

/// NaN for a number outside of the axis. Shapes: x [a.., n, b..], numbers, integers [c..] -> y [a.., c..,
/// b..].
class GatherLayer final : public Layer {
 public:
  using Params = GatherLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Picks elements of the first input along an axis by the indices in the second: `input: [x, "
               "numbers]`.")
        .example("Gather: {axis: 1}")
        .field("axis", &Params::axis, "axis of the indices; 0 is the batch, -1 the last one");
  }
  explicit GatherLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    check_input_count(b, in, 2, "a tensor, numbers");
    return gather(b, b.to_float(in[0]), nn::integers(b, in[1], "numbers"), axis_of(b, p_.axis, in[0]));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, GatherLayer, "Gather");

}  // namespace
}  // namespace tpack
