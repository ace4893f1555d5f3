#include <algorithm>

#include "layers/activation.h"
#include "layers/initializer.h"
#include "layers/layer.h"
#include "layers/layer_shapes.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"

namespace tpack {
namespace {

struct Conv2DTransposeParams {
  int64_t filters = 0;
  Size2 kernel = {3, 3};
  Size2 stride = {1, 1};
  PaddingSetting padding = PaddingRule::kSame;
  bool use_bias = true;
  Part<Layer> activation;
  Part<Initializer> kernel_initializer;
  Part<Initializer> bias_initializer;
};

/// Transposed convolution: the gradient, with respect to its input, of a convolution from y to x.
/// Shapes: x [N, C, H, W] -> y [N, filters, H * stride, W * stride], with `valid` larger by
/// max(kernel - stride, 0); W [C, filters, kh, kw], b [filters]. The fans of W are those of that convolution,
/// as in TensorFlow. Source: tensorpack models/conv2d.py; Keras utils/conv_utils.py (deconv_output_length).
class Conv2DTranspose final : public Layer {
 public:
  using Params = Conv2DTransposeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Transposed 2-D convolution: makes images larger.")
        .example("Conv2DTranspose: {filters: 32, kernel: 4, stride: 2, activation: ReLU}")
        .field("filters", &Params::filters, at_least(1), "number of output channels")
        .required()
        .shorthand()
        .field("kernel", &Params::kernel, at_least(1), "size of the kernel, pixels")
        .field("stride", &Params::stride, at_least(1), "output pixels per input pixel")
        .field("padding", &Params::padding,
               padding_doc("'same': output size input * stride; 'valid': more by kernel - stride, if that is "
                           "positive; that of the convolution whose gradient this is")
                   .c_str())
        .field("use_bias", &Params::use_bias, "adds one value per filter")
        .field("activation", &Params::activation, "layer applied to the result")
        .field("kernel_initializer", &Params::kernel_initializer, "values of W; default VarianceScaling")
        .field("bias_initializer", &Params::bias_initializer, "values of b; default zeros");
  }
  explicit Conv2DTranspose(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    check_image(b, x);
    check_float_input(b, x);
    const int64_t channels = x.shape()[1];
    const int64_t area = p_.kernel.h * p_.kernel.w;
    const Symbol w =
        b.variable("W", Shape{channels, p_.filters, p_.kernel.h, p_.kernel.w},
                   weights_initializer(p_.kernel_initializer, {p_.filters * area, channels * area}));
    const Size2 image = output_size(b, image_of(x.shape()));
    const ConvolutionParams window{.stride = p_.stride,
                                   .padding = padding_for(p_.padding, image, p_.kernel, p_.stride, {1, 1})};
    Symbol y = b.emit<ConvolutionBackwardData>({window, image}, {x, w}).out();
    if (p_.use_bias) {
      const Symbol bias = b.variable("b", Shape{p_.filters}, bias_initializer(p_.bias_initializer));
      y = b.add(y, per_channel(b, bias, y.shape()));
    }
    return activated(b, p_.activation, y);
  }

 private:
  /// With zeros as the config says, the size is that of the smallest image from which the convolution would
  /// make `in`. Errors: ShapeError if nothing is left.
  Size2 output_size(const Builder& b, Size2 in) const {
    if (p_.padding.sides) {
      const Padding2& p = *p_.padding.sides;
      const Size2 out{(in.h - 1) * p_.stride.h + p_.kernel.h - p.top - p.bottom,
                      (in.w - 1) * p_.stride.w + p_.kernel.w - p.left - p.right};
      if (out.h > 0 && out.w > 0) return out;
      throw ShapeError(b.origin(),
                       b.path() + ": nothing is left of the output with this 'padding'; use less");
    }
    const bool is_valid = p_.padding.rule == PaddingRule::kValid;
    const auto size = [&](int64_t n, int64_t kernel, int64_t stride) {
      return n * stride + (is_valid ? std::max<int64_t>(kernel - stride, 0) : 0);
    };
    return {size(in.h, p_.kernel.h, p_.stride.h), size(in.w, p_.kernel.w, p_.stride.w)};
  }

  Params p_;
};

TPACK_REGISTER(Layer, Conv2DTranspose, "Conv2DTranspose", "Deconv2D", "Deconv");

}  // namespace
}  // namespace tpack
