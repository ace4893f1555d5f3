#include "nn/conv2d_transpose.h"

#include "layers/option_fields.h"

namespace tpack {
namespace {

/// Transposed convolution: the gradient, with respect to its input, of a convolution from y to x.
/// Shapes: x [N, C, H, W] -> y [N, filters, H * stride, W * stride], with `valid` larger by
/// max(kernel - stride, 0); W [C, filters, kh, kw], b [filters]. The fans of W are those of that convolution,
/// as in TensorFlow. Source: tensorpack models/conv2d.py; Keras utils/conv_utils.py (deconv_output_length).
class Conv2DTranspose final : public Layer {
 public:
  using Params = WeightedParams<nn::Conv2DTransposeOptions>;
  static Schema<Params> schema() {
    return with_weight_fields(
        Schema<Params>("Transposed 2-D convolution: makes images larger.")
            .example("Conv2DTranspose: {filters: 32, kernel: 4, stride: 2, activation: ReLU}")
            .field("filters", option<Params>(&Params::filters), at_least(1), "number of output channels")
            .required()
            .shorthand()
            .field("kernel", option<Params>(&Params::kernel), at_least(1), "size of the kernel, pixels")
            .field("stride", option<Params>(&Params::stride), at_least(1), "output pixels per input pixel")
            .field("padding", option<Params>(&Params::padding),
                   padding_doc(
                       "'same': output size is input * stride; 'valid': larger by kernel - stride, if that "
                       "is positive; the padding of the convolution whose gradient this layer computes")
                       .c_str())
            .field("use_bias", option<Params>(&Params::use_bias), "add one value per filter"));
  }
  explicit Conv2DTranspose(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::conv2d_transpose(b, x, options_); }

 private:
  nn::Conv2DTransposeOptions options_;
};

TPACK_REGISTER(Layer, Conv2DTranspose, "Conv2DTranspose", "Deconv2D", "Deconv");

}  // namespace
}  // namespace tpack
