#pragma once

#include "graph/builder.h"

namespace tpack {

struct GatherParams {
  bool nan_outside = true;
};

/// Rows of a table by number; NaN or 0 for a number out of range. Shapes: table [rows, width], numbers int32
/// [n] -> [n, width].
class Gather final : public OpOf<Gather, GatherParams> {
 public:
  static constexpr const char* kType = "Gather";
  static Schema<GatherParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

struct ScatterAddParams {
  int64_t rows = 1;
};

/// Adds each row of dy, in order, to the row of a table of zeros with its number: the transpose of Gather.
/// Numbers out of range are ignored. Shapes: dy [n, width], numbers int32 [n] -> [rows, width].
class ScatterAdd final : public OpOf<ScatterAdd, ScatterAddParams> {
 public:
  static constexpr const char* kType = "ScatterAdd";
  static Schema<ScatterAddParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// Slices of `x` along an axis by number: output [..., numbers' shape, ...] in place of the axis.
Symbol gather(Builder& b, Symbol x, Symbol numbers, int axis);

}  // namespace tpack
