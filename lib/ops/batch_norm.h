#pragma once

#include "graph/builder.h"

namespace tpack {

/// The axes of BatchNorm's means: all except the second.
std::vector<int> all_but_channels(const Shape& x);

struct BatchNormParams {
  double epsilon = 1e-5;
};

/// Normalizes each channel with the mean and (biased) variance of this batch.
/// Shapes: x [N, C, H, W] or [N, C], gamma [C], beta [C] -> y as x, mean [C], variance [C].
/// Source: Ioffe and Szegedy 2015, "Batch Normalization".
class BatchNorm final : public OpOf<BatchNorm, BatchNormParams> {
 public:
  static constexpr const char* kType = "BatchNorm";
  static Schema<BatchNormParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  std::vector<Symbol> decompose(Builder& b, const Node& n) const override;
};

/// Gradient of BatchNorm's y. Shapes: x, gamma [C], mean [C], variance [C], dy as x -> dx as x, dgamma [C],
/// dbeta [C].
class BatchNormGradient final : public OpOf<BatchNormGradient, BatchNormParams> {
 public:
  static constexpr const char* kType = "BatchNormGradient";
  static Schema<BatchNormParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  bool has_gradient() const override { return false; }  // differentiated through its parts
  std::vector<Symbol> decompose(Builder& b, const Node& n) const override;
};

/// A [C] vector in the shape that broadcasts to the channels of x.
Symbol per_channel(Builder& b, Symbol vector, const Shape& x);

}  // namespace tpack
