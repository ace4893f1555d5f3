#include "ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/reference/kernel.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

/// Calls f(y index, window index, x index) for every image pixel that each window covers, in row order.
template <class F>
void for_each_covered(const PoolingParams& p, const Shape& x, const Shape& y, F&& f) {
  for (int64_t plane = 0; plane < y[0] * y[1]; ++plane)
    for (int64_t oy = 0; oy < y[2]; ++oy)
      for (int64_t ox = 0; ox < y[3]; ++ox)
        for (int64_t ky = 0; ky < p.window.h; ++ky)
          for (int64_t kx = 0; kx < p.window.w; ++kx) {
            const int64_t iy = oy * p.stride.h - p.padding.top + ky;
            const int64_t ix = ox * p.stride.w - p.padding.left + kx;
            if (iy < 0 || iy >= x[2] || ix < 0 || ix >= x[3]) continue;
            f((plane * y[2] + oy) * y[3] + ox, ky * p.window.w + kx, (plane * x[2] + iy) * x[3] + ix);
          }
}

void max_pool(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    T* y = out[0].data<T>();
    auto* index = out[1].data<uint8_t>();
    std::vector<bool> seen(static_cast<size_t>(out[0].elements()));
    for_each_covered(op_cast<MaxPool>(n)->params(), in[0].shape(), out[0].shape(),
                     [&](int64_t yi, int64_t k, int64_t xi) {
                       const bool wins = x[xi] > y[yi] || std::isnan(x[xi]);  // a NaN is never lost
                       if (seen[static_cast<size_t>(yi)] && !wins) return;
                       seen[static_cast<size_t>(yi)] = true;
                       y[yi] = x[xi];
                       index[yi] = static_cast<uint8_t>(k);
                     });
  });
}

void max_pool_scatter(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  std::memset(out[0].raw(), 0, out[0].bytes());
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const PoolingParams& p = op_cast<MaxPoolScatter>(n)->params().pooling;
    for_each_covered(p, out[0].shape(), in[0].shape(), [&](int64_t yi, int64_t k, int64_t xi) {
      if (in[1].data<uint8_t>()[yi] == k) out[0].data<T>()[xi] += in[0].data<T>()[yi];
    });
  });
}

void max_pool_gather(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const PoolingParams& p = op_cast<MaxPoolGather>(n)->params().pooling;
    for_each_covered(p, in[0].shape(), out[0].shape(), [&](int64_t yi, int64_t k, int64_t xi) {
      if (in[1].data<uint8_t>()[yi] == k) out[0].data<T>()[yi] = in[0].data<T>()[xi];
    });
  });
}

/// Number of image pixels under each window of a plane.
std::vector<double> covered(const PoolingParams& p, const Shape& x, const Shape& y) {
  std::vector<double> count(static_cast<size_t>(y.elements()));
  for_each_covered(p, x, y,
                   [&](int64_t yi, int64_t /*k*/, int64_t /*xi*/) { count[static_cast<size_t>(yi)] += 1; });
  return count;
}

void avg_pool(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const PoolingParams& p = op_cast<AvgPool>(n)->params();
  const std::vector<double> count = covered(p, in[0].shape(), out[0].shape());
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> sum(count.size());
    for_each_covered(p, in[0].shape(), out[0].shape(), [&](int64_t yi, int64_t /*k*/, int64_t xi) {
      sum[static_cast<size_t>(yi)] += static_cast<double>(in[0].data<T>()[xi]);
    });
    for (size_t i = 0; i < sum.size(); ++i) out[0].data<T>()[i] = static_cast<T>(sum[i] / count[i]);
  });
}

void avg_pool_spread(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const PoolingParams& p = op_cast<AvgPoolSpread>(n)->params().pooling;
  const std::vector<double> count = covered(p, out[0].shape(), in[0].shape());
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> dx(static_cast<size_t>(out[0].elements()));
    for_each_covered(p, out[0].shape(), in[0].shape(), [&](int64_t yi, int64_t /*k*/, int64_t xi) {
      dx[static_cast<size_t>(xi)] +=
          static_cast<double>(in[0].data<T>()[yi]) / count[static_cast<size_t>(yi)];
    });
    for (size_t i = 0; i < dx.size(); ++i) out[0].data<T>()[i] = static_cast<T>(dx[i]);
  });
}

const Registration kMaxPool("MaxPool", max_pool);
const Registration kMaxPoolScatter("MaxPoolScatter", max_pool_scatter);
const Registration kMaxPoolGather("MaxPoolGather", max_pool_gather);
const Registration kAvgPool("AvgPool", avg_pool);
const Registration kAvgPoolSpread("AvgPoolSpread", avg_pool_spread);

}  // namespace
}  // namespace tpack::reference
