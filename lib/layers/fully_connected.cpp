#include "layers/activation.h"
#include "layers/initializer.h"
#include "layers/layer.h"
#include "ops/matmul.h"

namespace tpack {
namespace {

struct FullyConnectedParams {
  int64_t units = 0;
  bool use_bias = true;
  bool flatten = true;
  Part<Layer> activation;
  Part<Initializer> kernel_initializer;
  Part<Initializer> bias_initializer;
};

/// y = x W + b. Everything but the batch axis is flattened, in C, H, W order; or the product is of the last
/// axis. Shapes: x [N, ...] -> y [N, units]; or x [..., in] -> y [..., units]; W [in, units], b [units].
/// Source: tensorpack models/fc.py.
class FullyConnected final : public Layer {
 public:
  using Params = FullyConnectedParams;
  static Schema<Params> schema() {
    return Schema<Params>("Product with a weight matrix, plus a bias.")
        .example("FullyConnected: {units: 128, activation: ReLU}")
        .field("units", &Params::units, at_least(1), "number of outputs")
        .required()
        .shorthand()
        .field("use_bias", &Params::use_bias, "adds one value per output")
        .field("flatten", &Params::flatten,
               "true: all axes but the batch's are one; false: the same product for each place of the axes "
               "before "
               "the last one, [N, T, in] to [N, T, units]")
        .field("activation", &Params::activation, "layer applied to the result")
        .field("kernel_initializer", &Params::kernel_initializer, "values of W; default VarianceScaling")
        .field("bias_initializer", &Params::bias_initializer, "values of b; default zeros");
  }
  explicit FullyConnected(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    if (x.shape().rank() < 2) {
      throw ShapeError(b.origin(), b.path() + ": needs an input [N, ...], not " + x.spec().str());
    }
    const auto last = static_cast<int>(x.shape().rank()) - 1;
    const Shape matrix =
        p_.flatten ? Shape{x.shape()[0], Shape::kUnknown} : Shape{Shape::kUnknown, x.shape()[last]};
    const Symbol flat = b.reshape(b.to_float(x), matrix);
    const int64_t in = flat.shape()[1];
    const Symbol w =
        b.variable("W", Shape{in, p_.units}, weights_initializer(p_.kernel_initializer, {in, p_.units}));
    Symbol y = matmul(b, flat, w);
    if (p_.use_bias) y = b.add(y, b.variable("b", Shape{p_.units}, bias_initializer(p_.bias_initializer)));
    y = activated(b, p_.activation, y);
    return p_.flatten ? y : b.reshape(y, x.shape().with(last, p_.units));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, FullyConnected, "FullyConnected");

}  // namespace
}  // namespace tpack
