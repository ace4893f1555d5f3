#include "ops/segment.h"

#include <algorithm>
#include <numeric>

namespace tpack {
namespace {

Schema<SegmentParams> segment_schema(const char* summary) {
  return Schema<SegmentParams>(summary).field("lengths", &SegmentParams::lengths,
                                              "elements of each segment, in order");
}

/// Elements of all segments.
int64_t elements_of(const SegmentParams& params) {
  if (std::any_of(params.lengths.begin(), params.lengths.end(), [](int64_t length) { return length < 1; }))
    throw ShapeError("a segment has fewer than 1 element");
  return std::accumulate(params.lengths.begin(), params.lengths.end(), int64_t{0});
}

void check_segmented(const TensorSpec& x, int64_t size) {
  check_float(x, "a vector of segments");
  if (x.shape != Shape{size})
    throw ShapeError("segments of " + std::to_string(size) + " elements together in a vector " + x.str());
}

}  // namespace

Schema<SegmentParams> SegmentDot::schema() {
  return segment_schema("The dot product of each segment of two vectors.");
}

std::vector<TensorSpec> SegmentDot::infer(std::span<const TensorSpec> in) const {
  const int64_t size = elements_of(params());
  check_segmented(in[0], size);
  check_segmented(in[1], size);
  return {{in[0].dtype, Shape{static_cast<int64_t>(params().lengths.size())}}};
}

std::vector<Symbol> SegmentDot::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  const Symbol spread = segment_spread(b, dy[0], params());
  return {b.mul(spread, n.inputs[1]), b.mul(spread, n.inputs[0])};
}

Schema<SegmentParams> SegmentSpread::schema() {
  return segment_schema("The number of each segment at each of its elements.");
}

std::vector<TensorSpec> SegmentSpread::infer(std::span<const TensorSpec> in) const {
  const int64_t size = elements_of(params());
  check_segmented(in[0], static_cast<int64_t>(params().lengths.size()));
  return {{in[0].dtype, Shape{size}}};
}

std::vector<Symbol> SegmentSpread::gradient(Builder& b, const Node& /*n*/, std::span<const Symbol> dy) const {
  return {segment_dot(b, dy[0], b.constant(1, dy[0].shape()), params())};
}

Symbol segment_dot(Builder& b, Symbol x, Symbol y, const SegmentParams& params) {
  return b.emit<SegmentDot>(params, {x, y}).out();
}

Symbol segment_spread(Builder& b, Symbol x, const SegmentParams& params) {
  return b.emit<SegmentSpread>(params, {x}).out();
}

TPACK_REGISTER(Op, SegmentDot, "SegmentDot");
TPACK_REGISTER(Op, SegmentSpread, "SegmentSpread");

}  // namespace tpack
