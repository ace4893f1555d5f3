#include "layers/activation.h"
#include "layers/initializer.h"
#include "layers/layer.h"
#include "layers/layer_shapes.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"

namespace tpack {
namespace {

struct Conv2DParams {
  int64_t filters = 0;
  Size2 kernel = {3, 3};
  Size2 stride = {1, 1};
  Size2 dilation = {1, 1};
  PaddingSetting padding = PaddingRule::kSame;
  int64_t groups = 1;
  bool use_bias = true;
  Part<Layer> activation;
  Part<Initializer> kernel_initializer;
  Part<Initializer> bias_initializer;
};

/// 2-D convolution, output rounded up as TensorFlow "same" does.
/// Shapes: x [N, C, H, W] -> y [N, filters, ceil(H/stride), ceil(W/stride)]; W [filters, C/groups, kh, kw], b
/// [filters]. Errors: ShapeError if C or filters is not a multiple of groups. Source: tensorpack
/// models/conv2d.py; padding rule from the TF guide "Convolution".
class Conv2D final : public Layer {
 public:
  using Params = Conv2DParams;
  static Schema<Params> schema() {
    return Schema<Params>("2-D convolution.")
        .example("Conv2D: {filters: 32, kernel: 5, activation: ReLU}")
        .field("filters", &Params::filters, at_least(1), "number of output channels")
        .required()
        .shorthand()
        .field("kernel", &Params::kernel, at_least(1), "size of the kernel, pixels")
        .field("stride", &Params::stride, at_least(1), "pixels between windows")
        .field("dilation", &Params::dilation, at_least(1), "pixels between the kernel's elements")
        .field("padding", &Params::padding,
               padding_doc("'same': output size input / stride, rounded up; 'valid': no padding").c_str())
        .field("groups", &Params::groups, at_least(1), "parts that the channels are split into")
        .field("use_bias", &Params::use_bias, "adds one value per filter")
        .field("activation", &Params::activation, "layer applied to the result")
        .field("kernel_initializer", &Params::kernel_initializer, "values of W; default VarianceScaling")
        .field("bias_initializer", &Params::bias_initializer, "values of b; default zeros");
  }
  explicit Conv2D(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    check(b, x);
    const int64_t channels = x.shape()[1] / p_.groups;
    const int64_t area = p_.kernel.h * p_.kernel.w;
    const Symbol w =
        b.variable("W", Shape{p_.filters, channels, p_.kernel.h, p_.kernel.w},
                   weights_initializer(p_.kernel_initializer, {channels * area, p_.filters * area}));
    const Size2 image{x.shape()[2], x.shape()[3]};
    const Padding2 padding = padding_for(p_.padding, image, p_.kernel, p_.stride, p_.dilation);
    Symbol y = convolution(b, x, w, {p_.stride, p_.dilation, padding, p_.groups});
    if (p_.use_bias) {
      const Symbol bias = b.variable("b", Shape{p_.filters}, bias_initializer(p_.bias_initializer));
      y = b.add(y, per_channel(b, bias, y.shape()));
    }
    return activated(b, p_.activation, y);
  }

 private:
  void check(const Builder& b, Symbol x) const {
    check_image(b, x);
    check_float_input(b, x);
    const int64_t channels = x.shape()[1];
    if (channels % p_.groups != 0 || p_.filters % p_.groups != 0) {
      throw ShapeError(b.origin(), b.path() + ": groups = " + std::to_string(p_.groups) +
                                       " does not divide the " + std::to_string(channels) +
                                       " input channels and the " + std::to_string(p_.filters) + " filters");
    }
  }

  Params p_;
};

TPACK_REGISTER(Layer, Conv2D, "Conv2D");

}  // namespace
}  // namespace tpack
