#pragma once

#include "graph/builder.h"

namespace tpack {

struct PadParams {
  std::vector<int64_t> before;  // for each axis
  std::vector<int64_t> after;
};

/// Zeros around a tensor. Shapes: x [a, b, ...] -> [before0 + a + after0, ...].
class Pad final : public OpOf<Pad, PadParams> {
 public:
  static constexpr const char* kType = "Pad";
  static Schema<PadParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

struct SliceParams {
  std::vector<int64_t> begin;  // for each axis
  Shape size;
};

/// A box out of a tensor. Shapes: x -> size. Errors: ShapeError if the box leaves x.
class Slice final : public OpOf<Slice, SliceParams> {
 public:
  static constexpr const char* kType = "Slice";
  static Schema<SliceParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override { return {.joined = true}; }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

Symbol pad(Builder& b, Symbol x, std::vector<int64_t> before, std::vector<int64_t> after);
Symbol slice(Builder& b, Symbol x, std::vector<int64_t> begin, const Shape& size);

}  // namespace tpack
