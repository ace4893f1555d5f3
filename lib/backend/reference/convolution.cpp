#include "ops/convolution.h"

#include <cstring>

#include "backend/reference/kernel.h"
#include "ops/matmul.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

/// Calls f(x index, w index, y index) for every product that a convolution sums.
template <class F>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a loop an index
void for_each_product(const ConvolutionParams& p, const Shape& x, const Shape& w, const Shape& y, F&& f) {
  const int64_t filters_a_group = y[1] / p.groups;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t k = 0; k < y[1]; ++k)
      for (int64_t oy = 0; oy < y[2]; ++oy)
        for (int64_t ox = 0; ox < y[3]; ++ox)
          for (int64_t c = 0; c < w[1]; ++c)
            for (int64_t ky = 0; ky < w[2]; ++ky)
              for (int64_t kx = 0; kx < w[3]; ++kx) {
                const int64_t iy = oy * p.stride.h - p.padding.top + ky * p.dilation.h;
                const int64_t ix = ox * p.stride.w - p.padding.left + kx * p.dilation.w;
                if (iy < 0 || iy >= x[2] || ix < 0 || ix >= x[3]) continue;
                const int64_t channel = k / filters_a_group * w[1] + c;
                f(((n * x[1] + channel) * x[2] + iy) * x[3] + ix, ((k * w[1] + c) * w[2] + ky) * w[3] + kx,
                  ((n * y[1] + k) * y[2] + oy) * y[3] + ox);
              }
}

void forward(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    const T* w = in[1].data<T>();
    std::vector<double> y(static_cast<size_t>(out[0].elements()));
    for_each_product(op_cast<Convolution>(n)->params(), in[0].shape(), in[1].shape(), out[0].shape(),
                     [&](int64_t xi, int64_t wi, int64_t yi) {
                       y[static_cast<size_t>(yi)] += static_cast<double>(x[xi]) * static_cast<double>(w[wi]);
                     });
    for (size_t i = 0; i < y.size(); ++i) out[0].data<T>()[i] = static_cast<T>(y[i]);
  });
}

void backward_data(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* dy = in[0].data<T>();
    const T* w = in[1].data<T>();
    std::vector<double> dx(static_cast<size_t>(out[0].elements()));
    for_each_product(op_cast<ConvolutionBackwardData>(n)->params().window, out[0].shape(), in[1].shape(),
                     in[0].shape(), [&](int64_t xi, int64_t wi, int64_t yi) {
                       dx[static_cast<size_t>(xi)] +=
                           static_cast<double>(dy[yi]) * static_cast<double>(w[wi]);
                     });
    for (size_t i = 0; i < dx.size(); ++i) out[0].data<T>()[i] = static_cast<T>(dx[i]);
  });
}

void backward_weights(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* x = in[0].data<T>();
    const T* dy = in[1].data<T>();
    std::vector<double> dw(static_cast<size_t>(out[0].elements()));
    for_each_product(op_cast<ConvolutionBackwardWeights>(n)->params().window, in[0].shape(), out[0].shape(),
                     in[1].shape(), [&](int64_t xi, int64_t wi, int64_t yi) {
                       dw[static_cast<size_t>(wi)] +=
                           static_cast<double>(x[xi]) * static_cast<double>(dy[yi]);
                     });
    for (size_t i = 0; i < dw.size(); ++i) out[0].data<T>()[i] = static_cast<T>(dw[i]);
  });
}

void matmul(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const MatMulParams& p = op_cast<MatMul>(n)->params();
  const int64_t rows = out[0].shape()[0];
  const int64_t columns = out[0].shape()[1];
  const int64_t inner = in[0].shape()[p.transpose_a ? 0 : 1];
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* a = in[0].data<T>();
    const T* b = in[1].data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          sum += static_cast<double>(p.transpose_a ? a[k * rows + i] : a[i * inner + k]) *
                 static_cast<double>(p.transpose_b ? b[j * inner + k] : b[k * columns + j]);
        }
        out[0].data<T>()[i * columns + j] = static_cast<T>(sum);
      }
    }
  });
}

const Registration kForward("Convolution", forward);
const Registration kBackwardData("ConvolutionBackwardData", backward_data);
const Registration kBackwardWeights("ConvolutionBackwardWeights", backward_weights);
const Registration kMatMul("MatMul", matmul);

}  // namespace
}  // namespace tpack::reference
