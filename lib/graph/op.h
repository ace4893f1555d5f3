#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/registry.h"
#include "fields/tensor_fields.h"
#include "graph/graph.h"

namespace tpack {

class Builder;
struct ConvolutionParams;

/// The operands of an op that are images, [N, C, H, W]. `joined`: either all operands with four axes are
/// images, or none, because the op keeps each axis in its place.
struct ImageOperands {
  std::vector<int> inputs = {};
  std::vector<int> outputs = {};
  bool joined = false;
};

/// The operation of a node: its shapes and its gradient. Each backend has the kernels, found by `type`.
/// Threads: const, so all methods may run at once.
class Op {
 public:
  static constexpr const char* kKind = "op";
  virtual ~Op() = default;

  /// Name under which it is registered and under which backends find kernels.
  virtual const char* type() const = 0;
  /// Type and attributes as text: equal for ops that compute the same.
  virtual std::string key() const = 0;
  /// Specs of the outputs. Errors: ShapeError if inputs do not fit.
  virtual std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const = 0;

  /// Gradient of a cost with respect to each input as new nodes, given that with respect to each output
  /// (`dy`; empty if the output does not matter). Empty results: no gradient flows there. Ops without a
  /// rule have either a decomposition or no gradient at all.
  virtual std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const;
  virtual bool has_gradient() const { return true; }
  /// The node's outputs made of primitive ops; empty for primitives. Used when a gradient op is
  /// differentiated again.
  virtual std::vector<Symbol> decompose(Builder& b, const Node& n) const;

  /// Which operands are images (see graph/images.h); by default none are.
  virtual ImageOperands images() const { return {}; }

  /// Whether it sums products of elements of its first two inputs, the factors.
  virtual bool is_product() const { return false; }

  /// How the window of a convolution moves, whichever of its directions the op computes; null for other ops.
  virtual const ConvolutionParams* window() const { return nullptr; }

  /// True where two nodes of one key and inputs may differ (random draws) and must not be merged.
  virtual bool stateful() const { return false; }
  /// Floating-point operations of one run; 0 for ops that cost only memory traffic.
  virtual double flops(const Node& n) const;
};

/// Errors: ShapeError, naming `what`, for a tensor of integers where only floats can be computed with.
void check_float(const TensorSpec& spec, const char* what);

/// An op with parameters and a schema: `class MatMul final : public OpOf<MatMul, MatMulParams>`.
/// Derived has `static constexpr const char* kType` and `static Schema<P> schema()`.
template <class Derived, class P>
class OpOf : public Op {
 public:
  using Params = P;
  explicit OpOf(Params params) : params_(std::move(params)) {}
  const Params& params() const { return params_; }
  const char* type() const override { return Derived::kType; }
  std::string key() const override {
    static const Schema<P> kSchema = Derived::schema();
    return std::string(Derived::kType) + to_json(kSchema.dump(params_));
  }

 private:
  Params params_;
};

/// The op of a node as its own class; null if it is another.
template <class T>
const T* op_cast(const Node& node) {
  return dynamic_cast<const T*>(node.op.get());
}

}  // namespace tpack
