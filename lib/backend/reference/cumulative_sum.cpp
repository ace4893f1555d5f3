#include "ops/cumulative_sum.h"

#include "backend/reference/kernel.h"
#include "ops/arg_max.h"

namespace tpack::reference {
namespace {

void cumulative_sum(const Node& n, std::span<const Tensor> in, std::span<const Tensor> out,
                    const RunInfo& /*info*/) {
  const CumulativeSumParams& p = op_cast<CumulativeSum>(n)->params();
  const AroundAxis sizes = around_axis(in[0].shape(), p.axis);
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t line = 0; line < sizes.before * sizes.after; ++line) {
      const int64_t first = line / sizes.after * sizes.size * sizes.after + line % sizes.after;
      double sum = 0;
      for (int64_t i = 0; i < sizes.size; ++i) {
        const int64_t at = first + (p.reverse ? sizes.size - 1 - i : i) * sizes.after;
        sum += static_cast<double>(in[0].data<T>()[at]);
        out[0].data<T>()[at] = static_cast<T>(sum);
      }
    }
  });
}

const Registration kCumulativeSum("CumulativeSum", cumulative_sum);

}  // namespace
}  // namespace tpack::reference
