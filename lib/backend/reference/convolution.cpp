#include "ops/convolution.h"

#include <algorithm>
#include <vector>

#include "backend/reference/indexing.h"
#include "backend/reference/kernel.h"
#include "ops/matmul.h"

namespace tpack::reference {
namespace {

using Tensors = std::span<const Tensor>;

/// A row of products that a convolution sums: x[x_begin + i * stride] * w[w_index] belongs to y[y_begin + i].
struct Products {
  int64_t x_begin, w_index, y_begin, count, stride;
};

/// The range of columns i of y for which column `offset + i * stride` of x exists.
struct Inside {
  int64_t begin, end;
};
Inside inside(int64_t offset, int64_t stride, int64_t columns_of_x, int64_t columns_of_y) {
  const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t left = columns_of_x - offset;
  const int64_t end = left <= 0 ? 0 : std::min(columns_of_y, (left + stride - 1) / stride);
  return {std::min(begin, end), end};
}

/// Calls f(Products) for all of them, in whole rows: under sanitizers, computing an index for each product
/// costs several times the product.
template <class F>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a loop an index
void for_each_row(const ConvolutionParams& p, const Shape& x, const Shape& w, const Shape& y, F&& f) {
  const int64_t images = y[0], filters = y[1], rows = y[2], columns = y[3];
  const int64_t x_channels = x[1], x_rows = x[2], x_columns = x[3];
  const int64_t channels = w[1], w_rows = w[2], w_columns = w[3];
  const int64_t filters_a_group = filters / p.groups;
  for (int64_t n = 0; n < images; ++n)
    for (int64_t k = 0; k < filters; ++k)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t x_plane = n * x_channels + k / filters_a_group * channels + c;
        for (int64_t ky = 0; ky < w_rows; ++ky)
          for (int64_t kx = 0; kx < w_columns; ++kx) {
            const int64_t offset = kx * p.dilation.w - p.padding.left;
            const Inside row = inside(offset, p.stride.w, x_columns, columns);
            if (row.begin == row.end) continue;
            for (int64_t oy = 0; oy < rows; ++oy) {
              const int64_t iy = oy * p.stride.h - p.padding.top + ky * p.dilation.h;
              if (iy < 0 || iy >= x_rows) continue;
              f(Products{.x_begin = (x_plane * x_rows + iy) * x_columns + offset + row.begin * p.stride.w,
                         .w_index = ((k * channels + c) * w_rows + ky) * w_columns + kx,
                         .y_begin = ((n * filters + k) * rows + oy) * columns + row.begin,
                         .count = row.end - row.begin,
                         .stride = p.stride.w});
            }
          }
      }
}

void forward(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* const x = in[0].data<T>();
    const T* const w = in[1].data<T>();
    std::vector<double> y(static_cast<size_t>(out[0].elements()));
    for_each_row(op_cast<Convolution>(n)->params(), in[0].shape(), in[1].shape(), out[0].shape(),
                 [&](const Products& row) {
                   const T* from = x + row.x_begin;
                   const auto weight = static_cast<double>(w[row.w_index]);
                   double* sums = y.data() + row.y_begin;
                   for (int64_t i = 0; i < row.count; ++i)
                     sums[i] += static_cast<double>(from[i * row.stride]) * weight;
                 });
    for (size_t i = 0; i < y.size(); ++i) out[0].data<T>()[i] = static_cast<T>(y[i]);
  });
}

void backward_data(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* const dy = in[0].data<T>();
    const T* const w = in[1].data<T>();
    std::vector<double> dx(static_cast<size_t>(out[0].elements()));
    for_each_row(op_cast<ConvolutionBackwardData>(n)->params().window, out[0].shape(), in[1].shape(),
                 in[0].shape(), [&](const Products& row) {
                   const T* from = dy + row.y_begin;
                   const auto weight = static_cast<double>(w[row.w_index]);
                   double* sums = dx.data() + row.x_begin;
                   for (int64_t i = 0; i < row.count; ++i)
                     sums[i * row.stride] += static_cast<double>(from[i]) * weight;
                 });
    for (size_t i = 0; i < dx.size(); ++i) out[0].data<T>()[i] = static_cast<T>(dx[i]);
  });
}

void backward_weights(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const T* const x = in[0].data<T>();
    const T* const dy = in[1].data<T>();
    std::vector<double> dw(static_cast<size_t>(out[0].elements()));
    for_each_row(op_cast<ConvolutionBackwardWeights>(n)->params().window, in[0].shape(), out[0].shape(),
                 in[1].shape(), [&](const Products& row) {
                   const T* inputs = x + row.x_begin;
                   const T* gradients = dy + row.y_begin;
                   double& sum = dw[static_cast<size_t>(row.w_index)];
                   for (int64_t i = 0; i < row.count; ++i)
                     sum += static_cast<double>(inputs[i * row.stride]) * static_cast<double>(gradients[i]);
                 });
    for (size_t i = 0; i < dw.size(); ++i) out[0].data<T>()[i] = static_cast<T>(dw[i]);
  });
}

void matmul(const Node& n, Tensors in, Tensors out, const RunInfo& /*info*/) {
  const MatMulParams& p = op_cast<MatMul>(n)->params();
  const auto last = static_cast<int>(out[0].shape().rank()) - 1;
  const int64_t rows = out[0].shape()[last - 1];
  const int64_t columns = out[0].shape()[last];
  const Shape& of_a = in[0].shape();
  const int64_t inner = of_a[static_cast<int>(of_a.rank()) - (p.transpose_a ? 2 : 1)];
  const auto leading = [](const Shape& shape) {
    return Shape(std::vector<int64_t>(shape.sizes().begin(), shape.sizes().end() - 2));
  };
  const Shape matrices = leading(out[0].shape());
  const BroadcastIndex matrix_of_a(leading(of_a), matrices.rank());
  const BroadcastIndex matrix_of_b(leading(in[1].shape()), matrices.rank());
  const auto run = [&](auto factor, auto product) {
    using T = decltype(factor);
    using Y = decltype(product);
    for_each_element(matrices, [&](int64_t matrix, const Coordinates& at) {
      const T* a = in[0].data<T>() + matrix_of_a(at) * rows * inner;
      const T* b = in[1].data<T>() + matrix_of_b(at) * inner * columns;
      Y* y = out[0].data<Y>() + matrix * rows * columns;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k) {
            sum += static_cast<double>(p.transpose_a ? a[k * rows + i] : a[i * inner + k]) *
                   static_cast<double>(p.transpose_b ? b[j * inner + k] : b[k * columns + j]);
          }
          y[i * columns + j] = static_cast<Y>(sum);
        }
      }
    });
  };
  if (in[0].dtype() == DType::kBFloat16) return run(BFloat16{}, float{});
  if (in[0].dtype() == DType::kFloat16) return run(Float16{}, float{});
  by_float(in[0], [&](auto zero) { run(zero, zero); });
}

const Registration kForward("Convolution", forward);
const Registration kBackwardData("ConvolutionBackwardData", backward_data);
const Registration kBackwardWeights("ConvolutionBackwardWeights", backward_weights);
const Registration kMatMul("MatMul", matmul);

}  // namespace
}  // namespace tpack::reference
