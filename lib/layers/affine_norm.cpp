#include "layers/affine_norm.h"

#include "ops/batch_norm.h"

namespace tpack {

namespace {

/// `lined_up`: gamma and beta as they broadcast to x.
template <class LinedUp>
Symbol normalized(Builder& b, Symbol x, const std::vector<int>& axes, const AffineNormParams& p,
                  const Shape& parameters, const LinedUp& lined_up) {
  const Symbol mean = b.reduce_mean(x, axes, Builder::Keep::kYes);
  const Symbol centered = b.sub(x, mean);
  const Symbol variance = b.reduce_mean(b.square(centered), axes, Builder::Keep::kYes);
  Symbol y = b.mul(centered, b.rsqrt(b.add(variance, p.epsilon)));
  if (p.scale) {
    const Initialize ones = fill_with([](Rng& /*rng*/) { return 1.0; });
    y = b.mul(y, lined_up(b.variable("gamma", parameters,
                                     p.gamma_initializer ? p.gamma_initializer->make({}) : ones)));
  }
  if (p.center) y = b.add(y, lined_up(b.variable("beta", parameters, {})));
  return y;
}

}  // namespace

Symbol affine_norm(Builder& b, Symbol x, const std::vector<int>& axes, const AffineNormParams& p) {
  return normalized(b, x, axes, p, Shape{x.shape()[1]},
                    [&](Symbol v) { return per_channel(b, v, x.shape()); });
}

Symbol affine_norm_of_last(Builder& b, Symbol x, int count, const AffineNormParams& p) {
  const auto rank = static_cast<int>(x.shape().rank());
  std::vector<int> axes;
  std::vector<int64_t> sizes;
  for (int axis = rank - count; axis < rank; ++axis) {
    axes.push_back(axis);
    sizes.push_back(x.shape()[axis]);
  }
  return normalized(b, x, axes, p, Shape(sizes), [](Symbol v) { return v; });
}

}  // namespace tpack
