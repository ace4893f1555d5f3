#include "ops/convolution.h"

namespace tpack {
namespace {

Window window_of(const ConvolutionParams& p, Size2 kernel) {
  return {kernel, p.stride, p.dilation, p.padding};
}

/// Two operations for each of: output pixel, filter, input channel of the group, kernel element.
double flops_of(const Shape& y, const Shape& w) {
  return 2.0 * static_cast<double>(y.elements()) * static_cast<double>(w[1] * w[2] * w[3]);
}

void check_rank(const TensorSpec& spec, const char* what) {
  if (spec.shape.rank() != 4) {
    throw ShapeError(std::string(what) + " of a convolution must have 4 axes [N, C, H, W], not " +
                     spec.str());
  }
}

Symbol backward_data(Builder& b, const ConvolutionParams& p, Symbol dy, Symbol w, Size2 image) {
  return b.emit<ConvolutionBackwardData>({p, image}, {dy, w}).out();
}

Symbol backward_weights(Builder& b, const ConvolutionParams& p, Symbol x, Symbol dy, Size2 kernel) {
  return b.emit<ConvolutionBackwardWeights>({p, kernel}, {x, dy}).out();
}

}  // namespace

Schema<ConvolutionParams> Convolution::schema() {
  return Schema<ConvolutionParams>("2-D convolution without bias.")
      .field("stride", &ConvolutionParams::stride, "pixels between windows")
      .field("dilation", &ConvolutionParams::dilation, "pixels between the window's elements")
      .field("padding", &ConvolutionParams::padding, "zeros around the image")
      .field("groups", &ConvolutionParams::groups, at_least(1), "number of groups of channels");
}

namespace {

struct GradientFields {
  static Schema<ConvolutionGradientParams> schema(const char* summary) {
    return Schema<ConvolutionGradientParams>(summary)
        .field("window", &ConvolutionGradientParams::window, "window of the convolution")
        .field("size", &ConvolutionGradientParams::size, "size of the result");
  }
};

}  // namespace

template <>
struct Codec<ConvolutionParams> {
  static FieldType type() { return FieldType::any("parameters of a convolution"); }
  static std::optional<ConvolutionParams> parse(const ConfigNode& node, Reader& reader) {
    return Convolution::schema().parse(node, reader.what(), reader.errors());
  }
  static ConfigNode dump(const ConvolutionParams& params) { return Convolution::schema().dump(params); }
};

std::vector<TensorSpec> Convolution::infer(std::span<const TensorSpec> in) const {
  check_rank(in[0], "the input");
  check_rank(in[1], "the weights");
  check_float(in[0], "the input of a convolution");
  const Shape& x = in[0].shape;
  const Shape& w = in[1].shape;
  const int64_t groups = params().groups;
  if (x[1] % groups != 0 || w[0] % groups != 0) {
    throw ShapeError("groups = " + std::to_string(groups) + " does not divide the " + std::to_string(x[1]) +
                     " input channels and the " + std::to_string(w[0]) + " filters");
  }
  if (x[1] / groups != w[1]) {
    throw ShapeError("the input " + in[0].str() + " has " + std::to_string(x[1]) +
                     " channels, but the weights " + w.str() + " take " + std::to_string(w[1] * groups));
  }
  const Size2 out = window_of(params(), image_of(w)).output(image_of(x));
  return {{product_type(in[0].dtype), Shape{x[0], w[0], out.h, out.w}}};
}

std::vector<Symbol> Convolution::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  const Symbol x = n.inputs[0];
  const Symbol w = n.inputs[1];
  return {backward_data(b, params(), dy[0], w, image_of(x.shape())),
          backward_weights(b, params(), x, dy[0], image_of(w.shape()))};
}

double Convolution::flops(const Node& n) const { return flops_of(n.outputs[0].shape, n.inputs[1].shape()); }

Schema<ConvolutionGradientParams> ConvolutionBackwardData::schema() {
  return GradientFields::schema("Gradient of a convolution with respect to its input.");
}

std::vector<TensorSpec> ConvolutionBackwardData::infer(std::span<const TensorSpec> in) const {
  check_rank(in[0], "the gradient");
  check_float(in[0], "the gradient of a convolution");
  const Shape& dy = in[0].shape;
  const Shape& w = in[1].shape;
  return {{product_type(in[0].dtype),
           Shape{dy[0], w[1] * params().window.groups, params().size.h, params().size.w}}};
}

std::vector<Symbol> ConvolutionBackwardData::gradient(Builder& b, const Node& n,
                                                      std::span<const Symbol> ddx) const {
  const Symbol w = n.inputs[1];
  const ConvolutionParams& p = params().window;
  return {convolution(b, ddx[0], w, p), backward_weights(b, p, ddx[0], n.inputs[0], image_of(w.shape()))};
}

double ConvolutionBackwardData::flops(const Node& n) const {
  return flops_of(n.inputs[0].shape(), n.inputs[1].shape());
}

Schema<ConvolutionGradientParams> ConvolutionBackwardWeights::schema() {
  return GradientFields::schema("Gradient of a convolution with respect to its weights.");
}

std::vector<TensorSpec> ConvolutionBackwardWeights::infer(std::span<const TensorSpec> in) const {
  check_rank(in[0], "the input");
  check_rank(in[1], "the gradient");
  check_float(in[0], "the input of a convolution");
  const int64_t channels = in[0].shape[1] / params().window.groups;
  return {{product_type(in[0].dtype), Shape{in[1].shape[1], channels, params().size.h, params().size.w}}};
}

std::vector<Symbol> ConvolutionBackwardWeights::gradient(Builder& b, const Node& n,
                                                         std::span<const Symbol> ddw) const {
  const Symbol x = n.inputs[0];
  const Symbol dy = n.inputs[1];
  const ConvolutionParams& p = params().window;
  return {backward_data(b, p, dy, ddw[0], image_of(x.shape())), convolution(b, x, ddw[0], p)};
}

double ConvolutionBackwardWeights::flops(const Node& n) const {
  return flops_of(n.inputs[1].shape(), n.outputs[0].shape);
}

Symbol convolution(Builder& b, Symbol x, Symbol w, const ConvolutionParams& params) {
  return b.emit<Convolution>(params, {x, w}).out();
}

TPACK_REGISTER(Op, Convolution, "Convolution");
TPACK_REGISTER(Op, ConvolutionBackwardData, "ConvolutionBackwardData");
TPACK_REGISTER(Op, ConvolutionBackwardWeights, "ConvolutionBackwardWeights");

}  // namespace tpack
