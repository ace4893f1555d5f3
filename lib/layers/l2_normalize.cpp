#include "layers/embeddings.h"
#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct L2NormalizeParams {
  int64_t axis = 1;
};

/// x / max(|x|, 1e-12) along an axis. Shapes: x any -> y same. Source: PyTorch's functional.normalize.
class L2Normalize final : public Layer {
 public:
  using Params = L2NormalizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Divides each vector by its length. The dot product of two results is their cosine, so use "
               "this as the last layer of an embedding network.")
        .example("L2Normalize: {axis: 1}")
        .field("axis", &Params::axis, "the axis of the vectors; 1 is the axis of features or channels");
  }
  explicit L2Normalize(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return unit_vectors(b, b.to_float(x), axis_inside_samples(b, p_.axis, x));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, L2Normalize, "L2Normalize");

}  // namespace
}  // namespace tpack
