#include <cmath>
#include <vector>

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

struct RangeLayerParams {
  int64_t axis = 1;
  double start = 0;
  double step = 1;
};

/// Positions, for formulas and position encodings. Shapes: x [..., n, ...] -> y [n].
class RangeLayer final : public Layer {
 public:
  using Params = RangeLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Evenly spaced numbers, as many as an axis of its input has elements: 0, 1, 2, ...")
        .example("Range: {axis: 1, start: 0.5}")
        .field("axis", &Params::axis, "the axis of the input; -1 is the last one")
        .field("start", &Params::start, "the first number")
        .field("step", &Params::step, "the difference between neighbors");
  }
  explicit RangeLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    std::vector<double> numbers(static_cast<size_t>(x.shape()[axis_of(b, p_.axis, x)]));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = p_.start + static_cast<double>(i) * p_.step;
    const Shape shape{static_cast<int64_t>(numbers.size())};
    return b.constant(Tensor::of<double>(shape, numbers).cast(b.float_type()));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, RangeLayer, "Range");

}  // namespace
}  // namespace tpack
