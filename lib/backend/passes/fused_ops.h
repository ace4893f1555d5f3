#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/pointwise.h"
#include "graph/structural.h"

namespace tpack {

/// A product (a convolution or a matrix product) with an `epilogue`, which its kernel computes before writing
/// the result: an expression of the product (input 0) and of additional inputs, with one result. Shapes: the
/// product's inputs, then the additional ones, which broadcast to its result -> as the product.
class Fused final : public Op {
 public:
  Fused(std::shared_ptr<const Op> product, pointwise::Expression epilogue)
      : product_(std::move(product)),
        epilogue_(std::move(epilogue)),
        type_(std::string("Fused") + product_->type()) {}
  const std::shared_ptr<const Op>& product() const { return product_; }
  const pointwise::Expression& epilogue() const { return epilogue_; }
  /// "FusedConvolution": a separate kernel.
  const char* type() const override { return type_.c_str(); }
  std::string key() const override { return type_ + "{" + product_->key() + ", " + epilogue_.str() + "}"; }
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return product_->images(); }
  const ConvolutionParams* window() const override { return product_->window(); }
  bool is_product() const override { return true; }
  double flops(const Node& n) const override { return product_->flops(n); }

 private:
  std::shared_ptr<const Op> product_;
  pointwise::Expression epilogue_;
  std::string type_;
};

/// The product of a node with `after` at the end of its epilogue, which takes its result as input `at`.
std::shared_ptr<const Fused> with_epilogue(const Node& product, const pointwise::Expression& after, int at);

/// One reduction that a sweep computes along the way.
struct SweepReduction {
  int value = 0;  // register of the expression
  Reduction kind = Reduction::kSum;
  std::vector<int> axes;
  bool operator==(const SweepReduction&) const = default;
};

/// One pass over the elements of a shape: an expression with some registers written and some reduced. Shapes:
/// inputs broadcast to `shape` -> one tensor of `shape` for each of the expression's results, then one for
/// each reduction, its axes of size 1.
class Sweep final : public Op {
 public:
  static constexpr const char* kType = "Sweep";
  // Limits for fusion and kernels.
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
  DType float_type() const { return float_type_; }
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
