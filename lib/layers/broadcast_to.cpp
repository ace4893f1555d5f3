#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct BroadcastToParams {
  Shape shape;
};

/// Shapes: x [N, ...] -> y [N, shape...], by NumPy's rule.
class BroadcastTo final : public Layer {
 public:
  using Params = BroadcastToParams;
  static Schema<Params> schema() {
    return Schema<Params>("Repeats each sample along its axes of size 1, such as a vector over an image.")
        .example("BroadcastTo: {shape: [3, 4, 9, 8]}")
        .field("shape", &Params::shape, "shape of one sample of the result")
        .required();
  }
  explicit BroadcastTo(Params p) : p_(p) {
    if (!p.shape.known()) throw ConfigError("layer BroadcastTo: 'shape' has a -1; all sizes must be known");
  }

  Symbol build(Builder& b, Symbol x) const override {
    const Shape wanted = with_batch_of(b, x, p_.shape);
    const Symbol aligned = b.reshape(b.to_float(x), sample_with_axes(x.shape(), wanted.rank()));
    const Symbol y = b.broadcast_to(aligned, wanted);
    if (!(y.shape() == wanted)) {
      throw ShapeError(b.origin(), b.path() + ": " + x.spec().str() + " does not broadcast to " +
                                       wanted.str() + "; each size must be equal or 1");
    }
    return y;
  }

 private:
  /// The batch stays the first axis; sizes of 1 are inserted after it.
  static Shape sample_with_axes(const Shape& x, size_t rank) {
    std::vector<int64_t> sizes = {x.sizes().begin(), x.sizes().end()};
    if (rank > sizes.size()) sizes.insert(sizes.begin() + 1, rank - sizes.size(), 1);
    return Shape(sizes);
  }

  Params p_;
};

TPACK_REGISTER(Layer, BroadcastTo, "BroadcastTo");

}  // namespace
}  // namespace tpack
