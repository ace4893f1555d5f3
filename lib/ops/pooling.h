#pragma once

#include "graph/builder.h"
#include "ops/window.h"

namespace tpack {

struct PoolingParams {
  Size2 window;
  Size2 stride;
  Padding2 padding;

  Window as_window() const { return {window, stride, {1, 1}, padding}; }
};

/// Gradients of pooling need the size of the pooled image.
struct PoolingGradientParams {
  PoolingParams pooling;
  Size2 image;
};

/// Largest element of each window; among equals the first in row order. Padding never wins.
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'], index uint8 of the same shape (row-major place inside the
/// window). Errors: ShapeError for windows of more than 256 elements.
class MaxPool final : public OpOf<MaxPool, PoolingParams> {
 public:
  static constexpr const char* kType = "MaxPool";
  static Schema<PoolingParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0, 1}}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// Adds each element of dy to the element at its window's index. Shapes: dy [N, C, H', W'], index uint8 -> dx
/// [N, C, H, W].
class MaxPoolScatter final : public OpOf<MaxPoolScatter, PoolingGradientParams> {
 public:
  static constexpr const char* kType = "MaxPoolScatter";
  static Schema<PoolingGradientParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0, 1}, {0}}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// The elements of x at the indices: the transpose of MaxPoolScatter. Shapes: x [N, C, H, W], index uint8 [N,
/// C, H', W'] -> y [N, C, H', W'].
class MaxPoolGather final : public OpOf<MaxPoolGather, PoolingGradientParams> {
 public:
  static constexpr const char* kType = "MaxPoolGather";
  static Schema<PoolingGradientParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0, 1}, {0}}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// Mean of each window over the elements that lie inside the image.
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
class AvgPool final : public OpOf<AvgPool, PoolingParams> {
 public:
  static constexpr const char* kType = "AvgPool";
  static Schema<PoolingParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0}}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// Spreads each element of dy evenly over its window: the transpose of AvgPool.
/// Shapes: dy [N, C, H', W'] -> dx [N, C, H, W].
class AvgPoolSpread final : public OpOf<AvgPoolSpread, PoolingGradientParams> {
 public:
  static constexpr const char* kType = "AvgPoolSpread";
  static Schema<PoolingGradientParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0}}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

Symbol max_pool(Builder& b, Symbol x, const PoolingParams& params);
Symbol avg_pool(Builder& b, Symbol x, const PoolingParams& params);

}  // namespace tpack
