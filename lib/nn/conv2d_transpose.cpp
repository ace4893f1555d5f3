#include "nn/conv2d_transpose.h"

#include <algorithm>

#include "nn/input_checks.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"

namespace tpack::nn {
namespace {

/// With explicit padding, the size of the smallest image that the convolution would map to `in`. Errors:
/// ShapeError if it is empty.
Size2 transposed_size(const Builder& b, Size2 in, const Conv2DTransposeOptions& o) {
  if (o.padding.sides) {
    const Padding2& p = *o.padding.sides;
    const Size2 out{(in.h - 1) * o.stride.h + o.kernel.h - p.top - p.bottom,
                    (in.w - 1) * o.stride.w + o.kernel.w - p.left - p.right};
    if (out.h > 0 && out.w > 0) return out;
    throw_shape_error(b, "the output is empty with this 'padding'; use less");
  }
  const bool is_valid = o.padding.rule == PaddingRule::kValid;
  const auto size = [&](int64_t n, int64_t kernel, int64_t stride) {
    return n * stride + (is_valid ? std::max<int64_t>(kernel - stride, 0) : 0);
  };
  return {size(in.h, o.kernel.h, o.stride.h), size(in.w, o.kernel.w, o.stride.w)};
}

}  // namespace

Symbol conv2d_transpose(Builder& b, Symbol x, const Conv2DTransposeOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  check_sizes(b, {{"filters", o.filters},
                  {"kernel", std::min(o.kernel.h, o.kernel.w)},
                  {"stride", std::min(o.stride.h, o.stride.w)}});
  const int64_t channels = x.shape()[1];
  const int64_t area = o.kernel.h * o.kernel.w;
  const Symbol kernel =
      b.kernel(KernelKind::kTransposedConvolution, {channels, o.filters, o.kernel.h, o.kernel.w},
               initial_weights(o.kernel_initializer, {o.filters * area, channels * area}));
  const Symbol w = activated(b, o.kernel_transform, kernel);
  const Size2 image = transposed_size(b, image_of(x.shape()), o);
  const ConvolutionParams window{.stride = o.stride,
                                 .padding = padding_for(o.padding, image, o.kernel, o.stride, {1, 1})};
  Symbol y = b.emit<ConvolutionBackwardData>({window, image}, {x, w}).out();
  if (o.use_bias) {
    const Symbol bias = b.variable("b", Shape{o.filters}, initial_values(o.bias_initializer));
    y = b.add(y, per_channel(b, bias, y.shape()));
  }
  return activated(b, o.activation, y);
}

}  // namespace tpack::nn
