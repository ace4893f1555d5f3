#include "ops/convolution.h"

#include <cstring>

#include "backend/reference/kernel.h"
#include "ops/matmul.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

/// Calls f(x index, w index, y index) for every product that a convolution sums, in the order of y, then of
/// w. What does not change in an inner loop is computed outside of it, which saves a quarter of the time
/// under sanitizers.
template <class F>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a loop an index
void for_each_product(const ConvolutionParams& p, const Shape& x, const Shape& w, const Shape& y, F&& f) {
  const int64_t filters_a_group = y[1] / p.groups;
  const int64_t height = x[2];
  const int64_t width = x[3];
  const int64_t columns = y[3];
  const int64_t channels = w[1];
  const int64_t kernel_rows = w[2];
  const int64_t kernel_columns = w[3];
  int64_t yi = 0;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t k = 0; k < y[1]; ++k) {
      const int64_t first_plane = n * x[1] + k / filters_a_group * channels;
      const int64_t first_row = k * channels * kernel_rows;
      for (int64_t oy = 0; oy < y[2]; ++oy)
        for (int64_t ox = 0; ox < columns; ++ox, ++yi) {
          const int64_t top = oy * p.stride.h - p.padding.top;
          const int64_t left = ox * p.stride.w - p.padding.left;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t ky = 0; ky < kernel_rows; ++ky) {
              const int64_t iy = top + ky * p.dilation.h;
              if (iy < 0 || iy >= height) continue;
              const int64_t x_row = ((first_plane + c) * height + iy) * width;
              const int64_t w_row = (first_row + c * kernel_rows + ky) * kernel_columns;
              for (int64_t kx = 0, ix = left; kx < kernel_columns; ++kx, ix += p.dilation.w) {
                if (ix >= 0 && ix < width) f(x_row + ix, w_row + kx, yi);
              }
            }
        }
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
