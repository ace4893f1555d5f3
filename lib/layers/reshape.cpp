#include <algorithm>

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct ReshapeLayerParams {
  Shape shape;
};

/// Shapes: x [N, ...] -> y [N, shape...], the same elements in row-major order. Outputs that depend on no
/// sample, such as a Variable, have no N.
class ReshapeLayer final : public Layer {
 public:
  using Params = ReshapeLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Changes the shape of each sample; the elements and their order stay.")
        .example("Reshape: {shape: [8, -1]}")
        .field("shape", &Params::shape,
               "shape of one sample; images are [channels, height, width]; one size may be -1, which is "
               "computed from the others. For a Constant or Variable, the whole shape")
        .required();
  }
  explicit ReshapeLayer(Params p) : p_(p) {
    const auto sizes = p.shape.sizes();
    if (std::count(sizes.begin(), sizes.end(), Shape::kUnknown) > 1)
      throw ConfigError("layer Reshape: 'shape' has more than one -1");
  }

  Symbol build(Builder& b, Symbol x) const override {
    return b.reshape(x, is_without_samples(x) ? p_.shape : with_batch_of(b, x, p_.shape));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ReshapeLayer, "Reshape");

}  // namespace
}  // namespace tpack
