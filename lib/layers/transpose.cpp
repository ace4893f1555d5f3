#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct TransposeLayerParams {
  std::vector<int64_t> order;
};

/// Shapes: axis i of y is axis order[i] of x.
class TransposeLayer final : public Layer {
 public:
  using Params = TransposeLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Changes the order of the axes.")
        .example("Transpose: {order: [0, 2, 1, 3]}")
        .field("order", &Params::order, "for each axis of the output, the axis of the input; 0 is the batch")
        .required();
  }
  explicit TransposeLayer(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override { return b.transpose(x, axes_of(b, p_.order, x)); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, TransposeLayer, "Transpose");

}  // namespace
}  // namespace tpack
