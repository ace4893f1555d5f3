#include "layers/affine_norm.h"

#include "ops/batch_norm.h"

namespace tpack {

Symbol affine_norm(Builder& b, Symbol x, const std::vector<int>& axes, const AffineNormParams& p) {
  const Shape channels{x.shape()[1]};
  const Symbol mean = b.reduce_mean(x, axes, Builder::Keep::kYes);
  const Symbol centered = b.sub(x, mean);
  const Symbol variance = b.reduce_mean(b.square(centered), axes, Builder::Keep::kYes);
  Symbol y = b.mul(centered, b.rsqrt(b.add(variance, p.epsilon)));
  if (p.scale) {
    const Initialize ones = fill_with([](Rng& /*rng*/) { return 1.0; });
    const Symbol gamma =
        b.variable("gamma", channels, p.gamma_initializer ? p.gamma_initializer->make({}) : ones);
    y = b.mul(y, per_channel(b, gamma, x.shape()));
  }
  if (p.center) y = b.add(y, per_channel(b, b.variable("beta", channels, {}), x.shape()));
  return y;
}

}  // namespace tpack
