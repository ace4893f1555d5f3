#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "cpu/kernel.h"
#include "cpu/onednn/primitive.h"
#include "cpu/parallel.h"
#include "cpu/sweep/simd.h"
#include "graph/structural.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/random_uniform.h"

/// Kernels that move or create elements without arithmetic.
namespace tpack::cpu {
namespace {

PreparedKernel reshape(const KernelRequest& r) { return plain_kernel(r, nullptr); }

bool is_channels_last_to_first(const TransposeParams& p) { return p.order == std::vector<int>{0, 3, 1, 2}; }
bool is_channels_first_to_last(const TransposeParams& p) { return p.order == std::vector<int>{0, 2, 3, 1}; }

/// A transpose, expressed as a reorder between two descriptions of the input's axes.
PreparedKernel transpose(const KernelRequest& r) {
  const TransposeParams& p = op_cast<Transpose>(r.node)->params();
  const TensorSpec& in = r.node.inputs[0].spec();
  const TensorSpec& out = r.node.outputs[0];
  // Images as they arrive, [N, H, W, C], already are channels-last images: nothing moves.
  if (is_channels_last_to_first(p)) {
    return {nullptr, {make_format(in, Layout::kPlain)}, {make_format(out, Layout::kNhwc)}, 0, {}};
  }
  if (is_channels_first_to_last(p)) {
    return {nullptr, {make_format(in, Layout::kNhwc)}, {make_format(out, Layout::kPlain)}, 0, {}};
  }
  const Format from = make_format(in, Layout::kPlain);
  dnnl::memory::dims strides(in.shape.rank());
  int64_t step = 1;
  for (size_t i = p.order.size(); i-- > 0;) {
    strides[static_cast<size_t>(p.order[i])] = step;
    step *= out.shape[static_cast<int>(i)];
  }
  const dnnl::memory::desc plain = md_of(from);
  const dnnl::memory::desc to(plain.dims(), plain.data_type(), strides);
  uint64_t scratch = 0;
  auto kernel = make_reorder(from, opaque(to), r.pieces, scratch);
  return {std::move(kernel), {from}, {make_format(out, Layout::kPlain)}, scratch, {}};
}

/// Copies rows (runs along the last axis) between a box in a large tensor and a small one.
struct BoxCopy {
  std::array<int64_t, Shape::kMaxRank> small_sizes{};
  std::array<int64_t, Shape::kMaxRank> large_steps{};
  size_t rank = 0;
  int64_t begin = 0;  // of the box, in elements
  size_t row_bytes = 0;
  size_t width = 4;  // bytes of an element
  int64_t rows = 1;
  int pieces = 1;

  template <class F>
  void each_row(Team* team, const F& f) const {
    const int64_t grain =
        std::max<int64_t>(1, kGrain * 4 / static_cast<int64_t>(std::max<size_t>(row_bytes, 1)));
    parallel_for(team, pieces, rows, grain, [&](int64_t first, int64_t last, int /*piece*/) {
      for (int64_t row = first; row < last; ++row) {
        int64_t rest = row;
        int64_t at = begin;
        for (size_t axis = rank - 1; axis-- > 0;) {
          at += rest % small_sizes[axis] * large_steps[axis];
          rest /= small_sizes[axis];
        }
        f(static_cast<size_t>(at) * width, static_cast<size_t>(row) * row_bytes);
      }
    });
  }
};

/// Sizes of a tensor's axes in memory order.
std::vector<int64_t> in_memory(const std::vector<int64_t>& logical, Layout layout, int64_t lanes) {
  if (logical.size() != 4 || layout == Layout::kPlain) return logical;
  if (layout == Layout::kNhwc) return {logical[0], logical[2], logical[3], logical[1]};
  return {logical[0], (logical[1] + 15) / 16, logical[2], logical[3], lanes};
}

BoxCopy box_copy(const TensorSpec& large, const Shape& small, const std::vector<int64_t>& begin,
                 Layout layout, int pieces) {
  const auto sizes = [&](const Shape& s) {
    return in_memory({s.sizes().begin(), s.sizes().end()}, layout, kBlockChannels);
  };
  const std::vector<int64_t> large_sizes = sizes(large.shape);
  const std::vector<int64_t> small_sizes = sizes(small);
  const std::vector<int64_t> start = in_memory(begin, layout, 0);
  BoxCopy copy;
  copy.rank = small_sizes.size();
  copy.width = size_of(large.dtype);
  copy.pieces = pieces;
  int64_t step = 1;
  for (size_t i = copy.rank; i-- > 0;) {
    copy.small_sizes[i] = small_sizes[i];
    copy.large_steps[i] = step;
    copy.begin += start[i] * step;
    step *= large_sizes[i];
    if (i + 1 < copy.rank) copy.rows *= small_sizes[i];
  }
  copy.row_bytes = static_cast<size_t>(small_sizes.back()) * copy.width;
  return copy;
}

/// Blocks of channels cannot be split: a box, which begins there, has all channels, or begins and ends at
/// block borders.
bool cuts_no_block(const Shape& large, const Shape& small, const std::vector<int64_t>& begin) {
  return large.rank() == 4 &&
         (large[1] == small[1] || (begin[1] % kBlockChannels == 0 && small[1] % kBlockChannels == 0));
}

bool pad_accepts(const Node& node, Layout layout) {
  return layout != Layout::kBlocked ||
         cuts_no_block(node.outputs[0].shape, node.inputs[0].shape(), op_cast<Pad>(node)->params().before);
}

bool slice_accepts(const Node& node, Layout layout) {
  return layout != Layout::kBlocked ||
         cuts_no_block(node.inputs[0].shape(), node.outputs[0].shape, op_cast<Slice>(node)->params().begin);
}

PreparedKernel pad(const KernelRequest& r) {
  const Layout layout = pad_accepts(r.node, r.layout) ? r.layout : Layout::kNhwc;
  const BoxCopy copy = box_copy(r.node.outputs[0], r.node.inputs[0].shape(),
                                op_cast<Pad>(r.node)->params().before, layout, r.pieces);
  const size_t bytes = make_format(r.node.outputs[0], layout).bytes();
  return {make_kernel([copy, bytes](const KernelArgs& args) {
            std::memset(args.out[0], 0, bytes);
            copy.each_row(team_of(args), [&](size_t large, size_t small) {
              std::memcpy(args.out[0] + large, args.in[0] + small, copy.row_bytes);
            });
          }),
          input_formats(r.node, layout),
          output_formats(r.node, layout),
          0,
          {}};
}

/// Bytes of the large tensor before a box that is one run of its memory. Nothing if it is not one run, or
/// does not start on a cache line, as kernels require.
std::optional<uint64_t> begin_of_run(const BoxCopy& copy, const std::vector<int64_t>& small,
                                     const std::vector<int64_t>& large) {
  size_t axis = 0;
  while (axis + 1 < small.size() && small[axis] == 1) ++axis;
  const bool whole_below = std::equal(small.begin() + static_cast<std::ptrdiff_t>(axis) + 1, small.end(),
                                      large.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  const auto begin = static_cast<uint64_t>(copy.begin) * copy.width;
  return whole_below && aligned(begin) == begin ? std::optional(begin) : std::nullopt;
}

/// A box that is one run of the input's memory is a part of it: nothing is copied.
PreparedKernel slice(const KernelRequest& r) {
  const Layout layout = slice_accepts(r.node, r.layout) ? r.layout : Layout::kNhwc;
  const BoxCopy copy = box_copy(r.node.inputs[0].spec(), r.node.outputs[0].shape,
                                op_cast<Slice>(r.node)->params().begin, layout, r.pieces);
  const auto sizes = [&](const Shape& shape) {
    return in_memory({shape.sizes().begin(), shape.sizes().end()}, layout, kBlockChannels);
  };
  if (const auto begin =
          begin_of_run(copy, sizes(r.node.outputs[0].shape), sizes(r.node.inputs[0].shape()))) {
    PreparedKernel part{nullptr, input_formats(r.node, layout), output_formats(r.node, layout)};
    part.part_begin = *begin;
    return part;
  }
  return {make_kernel([copy](const KernelArgs& args) {
            copy.each_row(team_of(args), [&](size_t large, size_t small) {
              std::memcpy(args.out[0] + small, args.in[0] + large, copy.row_bytes);
            });
          }),
          input_formats(r.node, layout),
          output_formats(r.node, layout),
          0,
          {}};
}

bool concat_accepts(const Node& node, Layout layout) {
  if (layout != Layout::kBlocked) return true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!cuts_no_block(node.outputs[0].shape, node.inputs[i].shape(), begin_in_concat(node, i))) return false;
  }
  return true;
}

PreparedKernel concat(const KernelRequest& r) {
  const Layout layout = concat_accepts(r.node, r.layout) ? r.layout : Layout::kNhwc;
  std::vector<BoxCopy> copies;
  for (size_t i = 0; i < r.node.inputs.size(); ++i) {
    copies.push_back(
        box_copy(r.node.outputs[0], r.node.inputs[i].shape(), begin_in_concat(r.node, i), layout, r.pieces));
  }
  return {make_kernel([copies](const KernelArgs& args) {
            for (size_t i = 0; i < copies.size(); ++i) {
              copies[i].each_row(team_of(args), [&](size_t large, size_t small) {
                std::memcpy(args.out[0] + large, args.in[i] + small, copies[i].row_bytes);
              });
            }
          }),
          input_formats(r.node, layout),
          output_formats(r.node, layout),
          0,
          {}};
}

PreparedKernel constant(const KernelRequest& r) {
  const ConstantParams& p = op_cast<Constant>(r.node)->params();
  Tensor value(r.node.outputs[0]);
  visit(p.dtype, [&](auto zero) {
    std::ranges::fill(value.span<decltype(zero)>(), static_cast<decltype(zero)>(p.value));
  });
  return plain_kernel(r, make_kernel([value](const KernelArgs& args) {
                        std::memcpy(args.out[0], value.raw(), value.bytes());
                      }));
}

PreparedKernel literal(const KernelRequest& r) {
  const Tensor value = op_cast<Literal>(r.node)->value();
  return plain_kernel(r, make_kernel([value](const KernelArgs& args) {
                        std::memcpy(args.out[0], value.raw(), value.bytes());
                      }));
}

using Draw = void (*)(uint64_t key, uint64_t first, float* out, size_t n);

template <Draw draw>
PreparedKernel random_numbers(const KernelRequest& r) {
  const int64_t count = r.node.outputs[0].shape.elements();
  const std::string path = r.node.path;
  const int pieces = r.pieces;
  return plain_kernel(
      r, make_kernel([count, path, pieces](const KernelArgs& args) {
        const uint64_t key = random_key(*args.info, path);
        parallel_for(team_of(args), pieces, count, kGrain, [&](int64_t begin, int64_t end, int /*piece*/) {
          draw(key, static_cast<uint64_t>(begin), reinterpret_cast<float*>(args.out[0]) + begin,
               static_cast<size_t>(end - begin));
        });
      }));
}

const KernelRegistration kReshape("Reshape", reshape, LayoutRule::kPlain, nullptr, kWithHalf);
const KernelRegistration kStopGradient("StopGradient", reshape, LayoutRule::kPlain, nullptr, kWithHalf);
const KernelRegistration kTranspose("Transpose", transpose, LayoutRule::kPlain, nullptr, kWithHalf);
const KernelRegistration kPad("Pad", pad, LayoutRule::kAgnostic, pad_accepts, kWithHalf);
const KernelRegistration kSlice("Slice", slice, LayoutRule::kAgnostic, slice_accepts, kWithHalf);
const KernelRegistration kConcat("Concat", concat, LayoutRule::kAgnostic, concat_accepts, kWithHalf);
const KernelRegistration kConstantNode("Constant", constant, LayoutRule::kPlain);
const KernelRegistration kLiteral("Literal", literal, LayoutRule::kPlain);
const KernelRegistration kRandomUniform("RandomUniform", random_numbers<simd::uniform>, LayoutRule::kPlain);
const KernelRegistration kRandomNormal("RandomNormal", random_numbers<simd::normal>, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
