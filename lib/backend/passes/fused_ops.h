#pragma once

#include "graph/pointwise.h"
#include "graph/structural.h"
#include "ops/convolution.h"
#include "ops/matmul.h"

namespace tpack {

/// What a convolution or matrix product does with its result before writing it.
enum class Activation : uint8_t { kNone, kRelu };
template <>
struct EnumNames<Activation> {
  static constexpr std::array<std::pair<const char*, Activation>, 2> kNames = {
      {{"none", Activation::kNone}, {"relu", Activation::kRelu}}};
};

struct FusedConvolutionParams {
  ConvolutionParams window;
  Activation activation = Activation::kNone;
};

/// activation(convolution(x, w) + bias). Shapes: x, w as Convolution, bias [filters] -> y.
class FusedConvolution final : public Op {
 public:
  static constexpr const char* kType = "FusedConvolution";
  explicit FusedConvolution(FusedConvolutionParams params) : params_(params) {}
  const FusedConvolutionParams& params() const { return params_; }
  const char* type() const override { return kType; }
  std::string key() const override;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{0}, {0}}; }
  const ConvolutionParams* window() const override { return &params_.window; }
  double flops(const Node& n) const override;

 private:
  FusedConvolutionParams params_;
};

struct FusedMatMulParams {
  MatMulParams product;
  Activation activation = Activation::kNone;
};

/// activation(a b + bias). Shapes: a, b as MatMul, bias [N] -> [M, N].
class FusedMatMul final : public Op {
 public:
  static constexpr const char* kType = "FusedMatMul";
  explicit FusedMatMul(FusedMatMulParams params) : params_(params) {}
  const FusedMatMulParams& params() const { return params_; }
  const char* type() const override { return kType; }
  std::string key() const override;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  double flops(const Node& n) const override;

 private:
  FusedMatMulParams params_;
};

/// One reduction that a sweep computes along the way.
struct SweepReduction {
  int value = 0;  // register of the expression
  Reduction kind = Reduction::kSum;
  std::vector<int> axes;
  bool operator==(const SweepReduction&) const = default;
};

/// One pass over the elements of a shape: an expression of which some registers are written and some reduced.
/// Shapes: inputs broadcast to `shape` -> one tensor of `shape` for each of the expression's results, then
/// one for each reduction, its axes of size 1.
class Sweep final : public Op {
 public:
  static constexpr const char* kType = "Sweep";
  // Limits: what fusion creates, and what kernels have room for.
  static constexpr size_t kMaxInputs = 16;
  static constexpr size_t kMaxOutputs = 8;  // results and reductions together
  static constexpr size_t kMaxInstructions = 64;
  Sweep(pointwise::Expression expression, std::vector<SweepReduction> reductions, Shape shape,
        DType float_type)
      : expression_(std::move(expression)),
        reductions_(std::move(reductions)),
        shape_(shape),
        float_type_(float_type) {}
  const pointwise::Expression& expression() const { return expression_; }
  const std::vector<SweepReduction>& reductions() const { return reductions_; }
  const Shape& shape() const { return shape_; }
  const char* type() const override { return kType; }
  std::string key() const override;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }

 private:
  pointwise::Expression expression_;
  std::vector<SweepReduction> reductions_;
  Shape shape_;
  DType float_type_;
};

}  // namespace tpack
