#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

struct SoftmaxParams {
  int64_t axis = -1;
};

Schema<SoftmaxParams> softmax_schema(const char* summary, const char* example) {
  return Schema<SoftmaxParams>(summary).example(example).field(
      "axis", &SoftmaxParams::axis,
      "the axis of the classes: -1 is the last one, 1 the channels of an image");
}

/// Shapes: x any -> y same, sums over the axis are 1.
class Softmax final : public Layer {
 public:
  using Params = SoftmaxParams;
  static Schema<Params> schema() {
    return softmax_schema("Probabilities from scores, over an axis.", "Softmax: {axis: 1}");
  }
  explicit Softmax(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return softmax(b, b.to_float(x), axis_inside_samples(b, p_.axis, x));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Softmax, "Softmax");

/// Without the overflow and the loss of precision of a Log after a Softmax. Shapes: x any -> y same.
class LogSoftmax final : public Layer {
 public:
  using Params = SoftmaxParams;
  static Schema<Params> schema() {
    return softmax_schema("Logarithms of probabilities from scores, over an axis.", "LogSoftmax: {axis: 1}");
  }
  explicit LogSoftmax(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override {
    return log_softmax(b, b.to_float(x), axis_inside_samples(b, p_.axis, x));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, LogSoftmax, "LogSoftmax");

}  // namespace
}  // namespace tpack
