#include "nn/enlarge.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/input_checks.h"
#include "ops/matmul.h"

namespace tpack::nn {
namespace {

/// The weights [to, from] from one row of pixels to another.
Tensor weights_of_axis(int64_t from, int64_t to, const ResizeOptions& o) {
  std::vector<double> weights(static_cast<size_t>(to * from));
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double between_corners = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  for (int64_t i = 0; i < to; ++i) {
    double* row = weights.data() + i * from;
    const auto at = static_cast<double>(i);
    if (o.method == ResizeMethod::kNearest) {
      row[i * from / to] = 1;
      continue;
    }
    const double place = o.align_corners ? at * between_corners : std::max(0.0, (at + 0.5) * step - 0.5);
    const auto low = std::min(static_cast<int64_t>(place), from - 1);
    const double part = place - static_cast<double>(low);
    row[low] += 1 - part;
    row[std::min(low + 1, from - 1)] += part;
  }
  return Tensor::of<double>({to, from}, weights);
}

/// Whole pixels are repeated.
Symbol repeat_pixels(Builder& b, Symbol x, Size2 times) {
  const Shape& s = x.shape();
  const Symbol apart = b.reshape(x, {s[0], s[1], s[2], 1, s[3], 1});
  const Symbol repeated = b.broadcast_to(apart, {s[0], s[1], s[2], times.h, s[3], times.w});
  return b.reshape(repeated, {s[0], s[1], s[2] * times.h, s[3] * times.w});
}

}  // namespace

Symbol resize(Builder& b, Symbol x, const ResizeOptions& o) {
  check_image(b, x);
  const Size2 from = image_of(x.shape());
  check_sizes(b, {{"scale", std::min(o.scale.h, o.scale.w)}});
  const Size2 to = o.size.value_or(Size2{from.h * o.scale.h, from.w * o.scale.w});
  check_sizes(b, {{"size", std::min(to.h, to.w)}});
  if (o.method == ResizeMethod::kNearest && to.h % from.h == 0 && to.w % from.w == 0)
    return repeat_pixels(b, x, {to.h / from.h, to.w / from.w});
  const auto weights = [&](int64_t before, int64_t after) {
    return b.constant(weights_of_axis(before, after, o).cast(b.float_type()));
  };
  if (to.w != from.w) x = matmul(b, x, weights(from.w, to.w), {.transpose_b = true});
  if (to.h != from.h) x = matmul(b, weights(from.h, to.h), x);
  return x;
}

Symbol pixel_shuffle(Builder& b, Symbol x, int64_t factor) {
  check_image(b, x);
  check_sizes(b, {{"factor", factor}});
  const Shape& s = x.shape();
  if (s[1] % (factor * factor) != 0)
    throw_shape_error(
        b, "the input has " + std::to_string(s[1]) +
               " channels, which is not a multiple of factor^2 = " + std::to_string(factor * factor));
  const int64_t channels = s[1] / (factor * factor);
  const Symbol parts = b.reshape(x, {s[0], channels, factor, factor, s[2], s[3]});
  return b.reshape(b.transpose(parts, {0, 1, 4, 2, 5, 3}), {s[0], channels, s[2] * factor, s[3] * factor});
}

Symbol channel_shuffle(Builder& b, Symbol x, int64_t groups) {
  const Shape& s = x.shape();
  if (s.rank() < 2) throw_shape_error(b, "needs an input [N, C, ...], not " + x.spec().str());
  check_divides_channels(b, "groups", groups, x);
  const Shape grouped{s[0], groups, s[1] / groups, Shape::kUnknown};
  return b.reshape(b.transpose(b.reshape(x, grouped), {0, 2, 1, 3}), s);
}

Symbol fixed_unpooling(Builder& b, Symbol x, Size2 window) {
  check_image(b, x);
  check_sizes(b, {{"window", std::min(window.h, window.w)}});
  const Shape& s = x.shape();
  std::vector<double> corner(static_cast<size_t>(window.h * window.w));
  corner[0] = 1;
  const Tensor one = Tensor::of<double>({1, 1, 1, window.h, 1, window.w}, corner).cast(b.float_type());
  const Symbol apart = b.reshape(x, {s[0], s[1], s[2], 1, s[3], 1});
  return b.reshape(b.mul(apart, b.constant(one)), {s[0], s[1], s[2] * window.h, s[3] * window.w});
}

}  // namespace tpack::nn
