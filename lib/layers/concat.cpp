#include "ops/concat.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct ConcatLayerParams {
  int64_t axis = 1;
};

/// Shapes: inputs [..., n_i, ...] -> [..., sum of n_i, ...].
class ConcatLayer final : public Layer {
 public:
  using Params = ConcatLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Joins its inputs along an axis: `input: [a, b]`.")
        .example("Concat: {axis: 1}")
        .field("axis", &Params::axis, "axis to join; 0 is the batch, 1 the channels, -1 the last one");
  }
  explicit ConcatLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    return concat(b, in, axis_of(b, p_.axis, in[0]));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ConcatLayer, "Concat");

}  // namespace
}  // namespace tpack
