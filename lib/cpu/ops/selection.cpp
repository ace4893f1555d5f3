#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "ops/arg_max.h"
#include "ops/gather.h"

/// Kernels that choose elements by number, or numbers of elements.
namespace tpack::cpu {
namespace {

const int32_t* numbers(const std::byte* data) { return reinterpret_cast<const int32_t*>(data); }

PreparedKernel gather(const KernelRequest& r) {
  const int64_t rows = r.node.inputs[0].shape()[0];
  const int64_t width = r.node.inputs[0].shape()[1];
  const int64_t count = r.node.outputs[0].shape[0];
  const float missing =
      op_cast<Gather>(r.node)->params().nan_outside ? std::numeric_limits<float>::quiet_NaN() : 0;
  const int pieces = r.pieces;
  return plain_kernel(r, make_kernel([=](const KernelArgs& args) {
                        const int64_t grain = std::max<int64_t>(1, kGrain / width);
                        parallel_for(team_of(args), pieces, count, grain,
                                     [&](int64_t begin, int64_t end, int /*piece*/) {
                                       for (int64_t i = begin; i < end; ++i) {
                                         const int64_t row = numbers(args.in[1])[i];
                                         float* to = floats_out(args.out[0]) + i * width;
                                         if (row >= 0 && row < rows) {
                                           std::copy_n(floats(args.in[0]) + row * width, width, to);
                                         } else {
                                           std::fill_n(to, width, missing);
                                         }
                                       }
                                     });
                      }));
}

/// Pieces are ranges of columns, so each sum has one order.
PreparedKernel scatter_add(const KernelRequest& r) {
  const int64_t rows = r.node.outputs[0].shape[0];
  const int64_t width = r.node.outputs[0].shape[1];
  const int64_t count = r.node.inputs[0].shape()[0];
  const int pieces = r.pieces;
  return plain_kernel(r, make_kernel([=](const KernelArgs& args) {
                        const int64_t grain = std::max<int64_t>(1, kGrain / (count + rows));
                        parallel_for(team_of(args), pieces, width, grain,
                                     [&](int64_t begin, int64_t end, int /*piece*/) {
                                       float* y = floats_out(args.out[0]);
                                       for (int64_t row = 0; row < rows; ++row)
                                         std::fill(y + row * width + begin, y + row * width + end, 0);
                                       for (int64_t i = 0; i < count; ++i) {
                                         const int64_t row = numbers(args.in[1])[i];
                                         if (row < 0 || row >= rows) continue;
                                         const float* dy = floats(args.in[0]) + i * width;
                                         for (int64_t k = begin; k < end; ++k) y[row * width + k] += dy[k];
                                       }
                                     });
                      }));
}

PreparedKernel arg_max(const KernelRequest& r) {
  const AroundAxis sizes = around_axis(r.node.inputs[0].shape(), op_cast<ArgMax>(r.node)->params().axis);
  const int pieces = r.pieces;
  return plain_kernel(r, make_kernel([=](const KernelArgs& args) {
                        const int64_t grain = std::max<int64_t>(1, kGrain / sizes.size);
                        parallel_for(team_of(args), pieces, sizes.before * sizes.after, grain,
                                     [&](int64_t begin, int64_t end, int /*piece*/) {
                                       for (int64_t i = begin; i < end; ++i) {
                                         const int64_t first =
                                             i / sizes.after * sizes.size * sizes.after + i % sizes.after;
                                         reinterpret_cast<int32_t*>(args.out[0])[i] = place_of_largest(
                                             floats(args.in[0]) + first, sizes.size, sizes.after);
                                       }
                                     });
                      }));
}

const KernelRegistration kGather("Gather", gather, LayoutRule::kPlain);
const KernelRegistration kScatterAdd("ScatterAdd", scatter_add, LayoutRule::kPlain);
const KernelRegistration kArgMax("ArgMax", arg_max, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
