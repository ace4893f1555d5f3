#pragma once

#include <optional>

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

inline Schema<AffineNormParams> affine_norm_schema(const char* summary, const char* example) {
  return Schema<AffineNormParams>(summary)
      .example(example)
      .field("epsilon", &AffineNormParams::epsilon, above(0), "added to the variance")
      .field("center", &AffineNormParams::center, "adds beta")
      .field("scale", &AffineNormParams::scale, "multiplies by gamma")
      .field("gamma_initializer", &AffineNormParams::gamma_initializer, "values of gamma; default ones");
}

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the biased variance over `axes`.
/// Shapes: x [N, C, ...] -> same; variables beta, gamma [C].
Symbol affine_norm(Builder& b, Symbol x, const std::vector<int>& axes, const AffineNormParams& p);

}  // namespace tpack
