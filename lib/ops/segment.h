#pragma once

#include <vector>

#include "graph/builder.h"

/// Ops on a vector that consists of segments one after the other, such as the variables in a flat block.
namespace tpack {

struct SegmentParams {
  std::vector<int64_t> lengths;  // of the segments, in order
};

/// The dot product of each segment of two vectors. A sum has the same bits for any number of threads. Shapes:
/// x [n], y [n] -> [segments]. Errors: ShapeError if the lengths do not add up to n.
class SegmentDot final : public OpOf<SegmentDot, SegmentParams> {
 public:
  static constexpr const char* kType = "SegmentDot";
  static Schema<SegmentParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

/// The number of each segment at each of its elements. Shapes: x [segments] -> [n], the sum of the lengths.
class SegmentSpread final : public OpOf<SegmentSpread, SegmentParams> {
 public:
  static constexpr const char* kType = "SegmentSpread";
  static Schema<SegmentParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

Symbol segment_dot(Builder& b, Symbol x, Symbol y, const SegmentParams& params);
Symbol segment_spread(Builder& b, Symbol x, const SegmentParams& params);

}  // namespace tpack
