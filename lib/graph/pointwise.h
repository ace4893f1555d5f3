#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/functions.h"
#include "graph/op.h"
#include "tensor/cast.h"

namespace tpack::pointwise {

/// register i = fn(registers args), or input `args[0]`, or the constant `value`.
struct Instruction {
  Fn fn = Fn::kInput;
  std::array<int, 3> args = {-1, -1, -1};
  double value = 0;
  bool operator==(const Instruction&) const = default;
};

/// A small program over the elements of its inputs, computed in float (or double), or exactly in integers
/// (is_integral). Inputs of other types are converted when they are read, results when they are written.
struct Expression {
  int inputs = 0;
  std::vector<Instruction> code;  // register i is code[i]; arguments have smaller numbers
  std::vector<int> results;       // registers that are written
  std::vector<DType> types;       // of the results

  bool operator==(const Expression&) const = default;
  /// "add(i0, mul(i1, 0.5))" for each result, with types.
  std::string str() const;
  /// True if all that it reads and writes is of integer types, with int32 or int64 among them, and each
  /// function gives integers of integers: then it is computed in int64, and results that their type does not
  /// hold become the nearest number that it holds.
  bool is_integral(std::span<const TensorSpec> in) const;
};

/// y_k = result k of the expression, element by element over the broadcast inputs.
/// Shapes: any that broadcast -> the broadcast shape, once for each result.
class Pointwise final : public Op {
 public:
  static constexpr const char* kType = "Pointwise";
  explicit Pointwise(Expression expression) : expression_(std::move(expression)) {}

  const Expression& expression() const { return expression_; }
  const char* type() const override { return kType; }
  std::string key() const override { return "Pointwise{" + expression_.str() + "}"; }
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  /// Of an expression of one function (what the Builder makes); fusion comes after the gradient.
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;

 private:
  Expression expression_;
};

/// A computed number as a result of another type: what an integer type does not hold becomes the nearest
/// number that it holds, and NaN becomes 0.
template <class To, class From>
To stored_as(From x) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    return static_cast<To>(std::clamp<From>(x, static_cast<From>(std::numeric_limits<To>::min()),
                                            static_cast<From>(std::numeric_limits<To>::max())));
  } else {
    return cast_element<To>(x);
  }
}

}  // namespace tpack::pointwise
