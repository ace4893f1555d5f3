#include <cstring>
#include <limits>

#include "backend/reference/kernel.h"
#include "ops/arg_max.h"
#include "ops/gather.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

void gather(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t rows = in[0].shape()[0];
  const int64_t width = in[0].shape()[1];
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T missing = op_cast<Gather>(n)->params().nan_outside ? std::numeric_limits<T>::quiet_NaN() : T{};
    for (int64_t i = 0; i < in[1].elements(); ++i) {
      const int64_t row = in[1].data<int32_t>()[i];
      const bool known = row >= 0 && row < rows;
      for (int64_t k = 0; k < width; ++k) {
        out[0].data<T>()[i * width + k] = known ? in[0].data<T>()[row * width + k] : missing;
      }
    }
  });
}

void scatter_add(const Node& /*n*/, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const int64_t rows = out[0].shape()[0];
  const int64_t width = out[0].shape()[1];
  std::memset(out[0].raw(), 0, out[0].bytes());
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < in[1].elements(); ++i) {
      const int64_t row = in[1].data<int32_t>()[i];
      if (row < 0 || row >= rows) continue;
      for (int64_t k = 0; k < width; ++k) out[0].data<T>()[row * width + k] += in[0].data<T>()[i * width + k];
    }
  });
}

void arg_max(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const AroundAxis sizes = around_axis(in[0].shape(), op_cast<ArgMax>(n)->params().axis);
  by_float(in[0], [&](auto zero) {
    const auto* x = in[0].data<decltype(zero)>();
    for (int64_t i = 0; i < out[0].elements(); ++i) {
      const int64_t first = i / sizes.after * sizes.size * sizes.after + i % sizes.after;
      out[0].data<int32_t>()[i] = place_of_largest(x + first, sizes.size, sizes.after);
    }
  });
}

const Registration kGather("Gather", gather);
const Registration kScatterAdd("ScatterAdd", scatter_add);
const Registration kArgMax("ArgMax", arg_max);

}  // namespace
}  // namespace tpack::reference
