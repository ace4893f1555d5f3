#include "ops/cumulative_sum.h"

#include <algorithm>
#include <array>

#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "ops/arg_max.h"

namespace tpack::cpu {
namespace {

constexpr int64_t kColumns = 16;  // lines next to each other that are summed at once: a line of the cache

/// Sums along `count` lines of which the elements lie next to each other. The sums are doubles: those of a
/// long axis keep the digits of floats.
void sum_lines(const float* x, float* y, int64_t count, const AroundAxis& sizes, bool reverse) {
  std::array<double, kColumns> sums{};
  for (int64_t i = 0; i < sizes.size; ++i) {
    const int64_t at = (reverse ? sizes.size - 1 - i : i) * sizes.after;
    for (int64_t k = 0; k < count; ++k) {
      sums[static_cast<size_t>(k)] += static_cast<double>(x[at + k]);
      y[at + k] = static_cast<float>(sums[static_cast<size_t>(k)]);
    }
  }
}

PreparedKernel cumulative_sum(const KernelRequest& r) {
  const CumulativeSumParams p = op_cast<CumulativeSum>(r.node)->params();
  const AroundAxis sizes = around_axis(r.node.inputs[0].shape(), p.axis);
  const int64_t groups = (sizes.after + kColumns - 1) / kColumns;  // of columns
  const int64_t grain = std::max<int64_t>(1, kGrain / (sizes.size * std::min(sizes.after, kColumns)));
  const int pieces = r.pieces;
  return plain_kernel(r, make_kernel([=](const KernelArgs& args) {
                        parallel_for(team_of(args), pieces, sizes.before * groups, grain,
                                     [&](int64_t begin, int64_t end, int /*piece*/) {
                                       for (int64_t i = begin; i < end; ++i) {
                                         const int64_t column = i % groups * kColumns;
                                         const int64_t first = i / groups * sizes.size * sizes.after + column;
                                         sum_lines(
                                             floats(args.in[0]) + first, floats_out(args.out[0]) + first,
                                             std::min(kColumns, sizes.after - column), sizes, p.reverse);
                                       }
                                     });
                      }));
}

const KernelRegistration kCumulativeSum("CumulativeSum", cumulative_sum, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
