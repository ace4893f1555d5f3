#include "nn/conv2d.h"

#include "layers/option_fields.h"

namespace tpack {
namespace {

/// 2-D convolution; with "same", the output size is rounded up as in TensorFlow. Shapes: x [N, C, H, W] -> y
/// [N, filters, ceil(H/stride), ceil(W/stride)]; W [filters, C/groups, kh, kw], b [filters]. Errors:
/// ShapeError if C or filters is not a multiple of groups. Source: tensorpack models/conv2d.py; padding rule
/// from the TF guide "Convolution".
class Conv2D final : public Layer {
 public:
  using Params = WeightedParams<nn::Conv2DOptions>;
  static Schema<Params> schema() {
    return with_weight_fields(
        Schema<Params>("2-D convolution.")
            .example("Conv2D: {filters: 32, kernel: 5, activation: ReLU}")
            .field("filters", option<Params>(&Params::filters), at_least(1), "number of output channels")
            .required()
            .shorthand()
            .field("kernel", option<Params>(&Params::kernel), at_least(1), "size of the kernel, pixels")
            .field("stride", option<Params>(&Params::stride), at_least(1), "pixels between windows")
            .field("dilation", option<Params>(&Params::dilation), at_least(1),
                   "pixels between the kernel's elements")
            .field("padding", option<Params>(&Params::padding),
                   padding_doc("'same': output size input / stride, rounded up; 'valid': no padding").c_str())
            .field("groups", option<Params>(&Params::groups), at_least(1), "number of groups of channels")
            .field("use_bias", option<Params>(&Params::use_bias), "add one value per filter"));
  }
  explicit Conv2D(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::conv2d(b, x, options_); }

 private:
  nn::Conv2DOptions options_;
};

TPACK_REGISTER(Layer, Conv2D, "Conv2D");

}  // namespace
}  // namespace tpack
