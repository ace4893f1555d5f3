#include "nn/pooling.h"

#include <algorithm>

#include "nn/input_checks.h"
#include "ops/pooling.h"

namespace tpack::nn {
namespace {

PoolingParams windows_on(const Builder& b, Symbol x, const PoolingOptions& o) {
  check_image(b, x);
  const Size2 stride = o.stride.value_or(o.window);
  check_sizes(b, {{"window", std::min(o.window.h, o.window.w)}, {"stride", std::min(stride.h, stride.w)}});
  if (const auto& sides = o.padding.sides) {
    if (std::max(sides->top, sides->bottom) >= o.window.h ||
        std::max(sides->left, sides->right) >= o.window.w)
      throw_shape_error(
          b, "'padding' must be smaller than 'window', because otherwise windows do not overlap the image");
  }
  return {o.window, stride, padding_for(o.padding, image_of(x.shape()), o.window, stride, {1, 1})};
}

}  // namespace

Symbol max_pooling(Builder& b, Symbol x, const PoolingOptions& o) {
  return max_pool(b, x, windows_on(b, x, o));
}

Symbol avg_pooling(Builder& b, Symbol x, const PoolingOptions& o) {
  return avg_pool(b, x, windows_on(b, x, o));
}

Symbol global_avg_pooling(Builder& b, Symbol x) {
  check_image(b, x);
  return b.reduce_mean(x, {2, 3});
}

Symbol global_max_pooling(Builder& b, Symbol x) {
  check_image(b, x);
  return b.reduce_max(x, {2, 3});
}

/// 1/4, 1/2, 1/4 is the mean of two neighboring means of two pixels. In the reflected image, the mean across
/// a border is that of the two pixels inside of it, and so is a window with one of two means.
Symbol blur_pooling(Builder& b, Symbol x, Size2 stride) {
  check_image(b, x);
  check_sizes(b, {{"stride", std::min(stride.h, stride.w)}});
  const Size2 image = image_of(x.shape());
  if (std::min(image.h, image.w) < 2)
    throw_shape_error(b, "needs images of at least 2x2 pixels, not " + x.spec().str());
  const Symbol means = avg_pool(b, x, {2, 1, {}});
  return avg_pool(b, means, {2, stride, {1, 1, 1, 1}});
}

}  // namespace tpack::nn
