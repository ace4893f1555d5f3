#include "ops/segment.h"

#include <algorithm>

#include "backend/reference/kernel.h"

namespace tpack::reference {
namespace {

void segment_dot(const Node& n, std::span<const Tensor> in, std::span<const Tensor> out,
                 const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    const T* y = in[1].data<T>();
    T* to = out[0].data<T>();
    for (const int64_t length : op_cast<SegmentDot>(n)->params().lengths) {
      double sum = 0;
      for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(*x++) * static_cast<double>(*y++);
      *to++ = static_cast<T>(sum);
    }
  });
}

void segment_spread(const Node& n, std::span<const Tensor> in, std::span<const Tensor> out,
                    const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    T* to = out[0].data<T>();
    for (const int64_t length : op_cast<SegmentSpread>(n)->params().lengths)
      to = std::fill_n(to, length, *x++);
  });
}

const Registration kSegmentDot("SegmentDot", segment_dot);
const Registration kSegmentSpread("SegmentSpread", segment_spread);

}  // namespace
}  // namespace tpack::reference
