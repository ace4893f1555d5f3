#include "nn/conv2d.h"

#include <algorithm>

#include "nn/input_checks.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"

namespace tpack::nn {
namespace {

void check_conv2d(const Builder& b, Symbol x, const Conv2DOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  check_sizes(b, {{"filters", o.filters},
                  {"kernel", std::min(o.kernel.h, o.kernel.w)},
                  {"stride", std::min(o.stride.h, o.stride.w)},
                  {"dilation", std::min(o.dilation.h, o.dilation.w)},
                  {"groups", o.groups}});
  const int64_t channels = x.shape()[1];
  if (channels % o.groups != 0 || o.filters % o.groups != 0) {
    throw_shape_error(b, "groups = " + std::to_string(o.groups) + " does not divide the " +
                             std::to_string(channels) + " input channels and the " +
                             std::to_string(o.filters) + " filters");
  }
}

}  // namespace

Symbol conv2d(Builder& b, Symbol x, const Conv2DOptions& o) {
  check_conv2d(b, x, o);
  const int64_t channels = x.shape()[1] / o.groups;
  const int64_t area = o.kernel.h * o.kernel.w;
  const Symbol kernel = b.kernel(KernelKind::kConvolution, {o.filters, channels, o.kernel.h, o.kernel.w},
                                 initial_weights(o.kernel_initializer, {channels * area, o.filters * area}));
  const Symbol w = activated(b, o.kernel_transform, kernel);
  const Padding2 padding = padding_for(o.padding, image_of(x.shape()), o.kernel, o.stride, o.dilation);
  Symbol y = convolution(b, x, w, {o.stride, o.dilation, padding, o.groups});
  if (o.use_bias) {
    const Symbol bias = b.variable("b", Shape{o.filters}, initial_values(o.bias_initializer));
    y = b.add(y, per_channel(b, bias, y.shape()));
  }
  return activated(b, o.activation, y);
}

}  // namespace tpack::nn
