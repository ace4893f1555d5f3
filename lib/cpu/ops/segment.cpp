#include "ops/segment.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

constexpr int64_t kSegmentBlock = 1024;  // elements that are summed in floats
constexpr int64_t kBlockGrain = kGrain / kSegmentBlock;

/// A part of a segment, at most kSegmentBlock elements.
struct SegmentBlock {
  int64_t begin = 0;
  int64_t size = 0;
  int64_t segment = 0;
};

std::vector<SegmentBlock> blocks_of(const std::vector<int64_t>& lengths) {
  std::vector<SegmentBlock> blocks;
  int64_t begin = 0;
  int64_t segment = 0;
  for (const int64_t length : lengths) {
    for (int64_t at = 0; at < length; at += kSegmentBlock)
      blocks.push_back({begin + at, std::min(kSegmentBlock, length - at), segment});
    begin += length;
    ++segment;
  }
  return blocks;
}

float dot(const float* x, const float* y, int64_t size) {
  std::array<float, kSegmentBlock> products;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  const auto n = static_cast<size_t>(size);
  simd::apply(pointwise::Fn::kMul, {x, false}, {y, false}, {}, products.data(), n);
  return simd::sum(products.data(), n);
}

/// Sums of blocks, then of each segment's blocks in order: the order depends on the lengths only.
PreparedKernel segment_dot(const KernelRequest& r) {
  const int64_t segments = r.node.outputs[0].shape[0];
  const int pieces = r.pieces;
  auto blocks = blocks_of(op_cast<SegmentDot>(r.node)->params().lengths);
  const uint64_t scratch = blocks.size() * sizeof(float);
  const auto run = [blocks = std::move(blocks), segments, pieces](const KernelArgs& args) {
    auto* sums = reinterpret_cast<float*>(args.scratch);
    const auto count = static_cast<int64_t>(blocks.size());
    parallel_for(team_of(args), pieces, count, kBlockGrain, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t i = begin; i < end; ++i) {
        const SegmentBlock& block = blocks[static_cast<size_t>(i)];
        sums[i] = dot(floats(args.in[0]) + block.begin, floats(args.in[1]) + block.begin, block.size);
      }
    });
    size_t i = 0;
    for (int64_t segment = 0; segment < segments; ++segment) {
      double sum = 0;
      for (; i < blocks.size() && blocks[i].segment == segment; ++i) sum += static_cast<double>(sums[i]);
      floats_out(args.out[0])[segment] = static_cast<float>(sum);
    }
  };
  return plain_kernel(r, make_kernel(run), scratch);
}

PreparedKernel segment_spread(const KernelRequest& r) {
  const int pieces = r.pieces;
  const auto run = [blocks = blocks_of(op_cast<SegmentSpread>(r.node)->params().lengths),
                    pieces](const KernelArgs& args) {
    const auto count = static_cast<int64_t>(blocks.size());
    parallel_for(team_of(args), pieces, count, kBlockGrain, [&](int64_t begin, int64_t end, int /*piece*/) {
      for (int64_t i = begin; i < end; ++i) {
        const SegmentBlock& block = blocks[static_cast<size_t>(i)];
        simd::fill(floats(args.in[0])[block.segment], floats_out(args.out[0]) + block.begin,
                   static_cast<size_t>(block.size));
      }
    });
  };
  return plain_kernel(r, make_kernel(run));
}

const KernelRegistration kSegmentDot("SegmentDot", segment_dot, LayoutRule::kPlain);
const KernelRegistration kSegmentSpread("SegmentSpread", segment_spread, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
