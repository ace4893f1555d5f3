#pragma once

#include "graph/builder.h"

namespace tpack {

struct ConcatParams {
  int axis = 0;
};

/// Concatenates tensors along an axis. Shapes: x_i [..., n_i, ...] -> [..., sum of n_i, ...]. Errors:
/// ShapeError if the types or the sizes of other axes differ.
class Concat final : public OpOf<Concat, ConcatParams> {
 public:
  static constexpr const char* kType = "Concat";
  static Schema<ConcatParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// The start of input `index` of a Concat in its output, for each axis.
std::vector<int64_t> begin_in_concat(const Node& n, size_t index);

Symbol concat(Builder& b, std::span<const Symbol> in, int axis);

}  // namespace tpack
