#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/op.h"
#include "graph/variables.h"

namespace tpack {

struct InputParams {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool image = false;  // [N, C, H, W]
};

/// A value that the caller feeds. Shapes: () -> shape.
class Input final : public OpOf<Input, InputParams> {
 public:
  static constexpr const char* kType = "Input";
  static Schema<InputParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {{}, params().image ? std::vector{0} : std::vector<int>{}}; }
};

struct ReadParams {
  std::string variable;
  DType dtype = DType::kFloat32;
  Shape shape;
};

/// The value of a variable when the program starts. Shapes: () -> shape.
class Read final : public OpOf<Read, ReadParams> {
 public:
  static constexpr const char* kType = "Read";
  static Schema<ReadParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

/// The trainable variables that a graph reads, in the table's order, each with its value there.
std::vector<std::pair<const VariableSpec*, Symbol>> trainable_reads(const Graph& graph,
                                                                    const VariableTable& table);

struct ConstantParams {
  double value = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
};

/// One number everywhere. Shapes: () -> shape.
class Constant final : public OpOf<Constant, ConstantParams> {
 public:
  static constexpr const char* kType = "Constant";
  static Schema<ConstantParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

/// A tensor known when the graph is built. Shapes: () -> the tensor's.
class Literal final : public Op {
 public:
  static constexpr const char* kType = "Literal";
  explicit Literal(Tensor value) : value_(std::move(value)) {}
  const Tensor& value() const { return value_; }
  const char* type() const override { return kType; }
  std::string key() const override;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;

 private:
  Tensor value_;
};

enum class Reduction : uint8_t { kSum, kMax, kMean, kVariance };
template <>
struct EnumNames<Reduction> {
  static constexpr std::array<std::pair<const char*, Reduction>, 4> kNames = {
      {{"sum", Reduction::kSum},
       {"max", Reduction::kMax},
       {"mean", Reduction::kMean},
       {"variance", Reduction::kVariance}}};
};

struct ReduceParams {
  Reduction kind = Reduction::kSum;
  std::vector<int> axes;  // from 0, increasing
};

/// Sum, maximum, mean or (biased) variance over axes, which stay with size 1. A variance loses no digits to a
/// large mean. Shapes: x [...] -> [..., 1, ...].
class Reduce final : public OpOf<Reduce, ReduceParams> {
 public:
  static constexpr const char* kType = "Reduce";
  static Schema<ReduceParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

struct ReshapeParams {
  Shape shape;
};

/// The same elements in row-major order under another shape. Shapes: x -> shape, as many elements.
class Reshape final : public OpOf<Reshape, ReshapeParams> {
 public:
  static constexpr const char* kType = "Reshape";
  static Schema<ReshapeParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

struct TransposeParams {
  std::vector<int> order;
};

/// Axes in another order: output axis i is input axis order[i].
class Transpose final : public OpOf<Transpose, TransposeParams> {
 public:
  static constexpr const char* kType = "Transpose";
  static Schema<TransposeParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// Identity that stops gradients. Shapes: x any -> same.
class StopGradient final : public OpOf<StopGradient, NoParams> {
 public:
  static constexpr const char* kType = "StopGradient";
  static Schema<NoParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
};

}  // namespace tpack
