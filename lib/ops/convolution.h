#pragma once

#include "graph/builder.h"
#include "ops/window.h"

namespace tpack {

struct ConvolutionParams {
  Size2 stride;
  Size2 dilation;
  Padding2 padding;
  int64_t groups = 1;
};

/// 2-D convolution (cross-correlation, as in other frameworks) without bias. Shapes: x [N, C, H, W], w
/// [filters, C/groups, kh, kw] -> y [N, filters, H', W']. Errors: ShapeError if the channels do not fit the
/// weights or groups. The result is float32 if the images have 16 bits; so are both gradients.
class Convolution final : public OpOf<Convolution, ConvolutionParams> {
 public:
  static constexpr const char* kType = "Convolution";
  static Schema<ConvolutionParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0}}; }
  const ConvolutionParams* window() const override { return &params(); }
  bool is_product() const override { return true; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  double flops(const Node& n) const override;
};

/// The gradients need the size of their result, because a stride makes it ambiguous.
struct ConvolutionGradientParams {
  ConvolutionParams window;
  Size2 size;  // of the image (backward data) or of the kernel (backward weights)
};

/// Gradient of a convolution with respect to its input.
/// Shapes: dy [N, filters, H', W'], w [filters, C/groups, kh, kw] -> dx [N, C, H, W].
class ConvolutionBackwardData final : public OpOf<ConvolutionBackwardData, ConvolutionGradientParams> {
 public:
  static constexpr const char* kType = "ConvolutionBackwardData";
  static Schema<ConvolutionGradientParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0}}; }
  const ConvolutionParams* window() const override { return &params().window; }
  bool is_product() const override { return true; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  double flops(const Node& n) const override;
};

/// Gradient of a convolution with respect to its weights.
/// Shapes: x [N, C, H, W], dy [N, filters, H', W'] -> dw [filters, C/groups, kh, kw].
class ConvolutionBackwardWeights final : public OpOf<ConvolutionBackwardWeights, ConvolutionGradientParams> {
 public:
  static constexpr const char* kType = "ConvolutionBackwardWeights";
  static Schema<ConvolutionGradientParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0, 1}, {}}; }
  const ConvolutionParams* window() const override { return &params().window; }
  bool is_product() const override { return true; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  double flops(const Node& n) const override;
};

Symbol convolution(Builder& b, Symbol x, Symbol w, const ConvolutionParams& params);

}  // namespace tpack
