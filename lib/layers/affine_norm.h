#pragma once

#include <concepts>
#include <vector>

#include "layers/initializer.h"
#include "layers/layer.h"

namespace tpack {

/// What LayerNorm and InstanceNorm share: each sample is normalized by itself, then each channel is scaled
/// and moved.
struct AffineNormParams {
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  Part<Initializer> gamma_initializer;
};

template <std::derived_from<AffineNormParams> P = AffineNormParams>
Schema<P> affine_norm_schema(const char* summary, const char* example) {
  return Schema<P>(summary)
      .example(example)
      .field("epsilon", static_cast<double P::*>(&P::epsilon), above(0), "added to the variance")
      .field("center", static_cast<bool P::*>(&P::center), "adds beta")
      .field("scale", static_cast<bool P::*>(&P::scale), "multiplies by gamma")
      .field("gamma_initializer", static_cast<Part<Initializer> P::*>(&P::gamma_initializer),
             "values of gamma; default ones");
}

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the biased variance over `axes`.
/// Shapes: x [N, C, ...] -> same; variables beta, gamma [C].
Symbol affine_norm(Builder& b, Symbol x, const std::vector<int>& axes, const AffineNormParams& p);
/// The same over the last `count` axes. Shapes: x any -> same; variables beta, gamma of the sizes of these
/// axes.
Symbol affine_norm_of_last(Builder& b, Symbol x, int count, const AffineNormParams& p);

}  // namespace tpack
