#include "cpu/convolution/winograd_pairs.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "cpu/pair_kernels.h"
#include "ops/op_cases.h"

namespace tpack::cpu {
namespace {

struct PairWinogradCase {
  const char* name;
  int64_t images;
  int64_t channels;
  int64_t filters;
  Size2 size;
  Padding2 padding;
};
std::ostream& operator<<(std::ostream& out, const PairWinogradCase& c) { return out << c.name; }

std::vector<PairWinogradCase> pair_winograd_cases() {
  return {{"whole_tiles", 2, 16, 32, {8, 8}, {1, 1, 1, 1}},
          {"parts_of_tiles", 3, 32, 16, {7, 11}, {1, 1, 1, 1}},
          {"an_odd_number_of_blocks", 2, 48, 80, {5, 6}, {1, 1, 1, 1}},
          {"no_padding", 2, 16, 16, {9, 6}, {}},
          {"wide_padding", 1, 16, 16, {3, 5}, {2, 2, 2, 2}},
          {"padding_wider_than_the_window", 2, 16, 32, {4, 5}, {3, 4, 3, 3}},
          {"padding_on_one_side", 3, 32, 16, {5, 9}, {2, 0, 0, 1}},
          {"one_tile", 1, 64, 64, {2, 2}, {1, 1, 1, 1}},
          {"one_pixel", 2, 16, 16, {1, 1}, {1, 1, 1, 1}},
          {"one_row", 5, 16, 16, {1, 19}, {1, 1, 1, 1}},
          {"many_chunks", 4, 256, 32, {14, 13}, {1, 1, 1, 1}}};
}

/// Whole numbers up to `most`, times `step`.
Tensor whole_numbers(const Shape& shape, uint64_t seed, double most, double step) {
  Tensor x = random_tensor(shape, seed, DType::kFloat64, -most, most);
  for (double& value : x.span<double>()) value = std::round(value) * step;
  return x;
}

class PairWinograd : public WithPairs<testing::TestWithParam<PairWinogradCase>> {
 protected:
  /// Each of both kernels against the direct convolution in float32 (`fit` and `run` as for the forward one).
  void expect_equal(const Node& node, const std::vector<Tensor>& inputs, const ConvolutionParams& p,
                    const std::function<PreparedKernel(const KernelRequest&)>& prepare, PairKernels& kernels,
                    const Tensor& expected) {
    ASSERT_TRUE(pair_winograd_fits(node, p));
    for (const Layout layout : {Layout::kNhwc, Layout::kBlocked}) {
      for (const int pieces : {1, 3}) {
        const Tensor found = kernels.run(node, inputs, prepare({node, layout, kPairWinograd, pieces}));
        EXPECT_TRUE(bit_equal(found, expected)) << name_of(layout) << ", " << pieces << " pieces";
      }
    }
  }
};

/// Small whole numbers, with filters that are multiples of four, have transforms without rounding, so the
/// results are exactly those of the formula.
TEST_P(PairWinograd, is_exact_where_nothing_is_rounded) {
  const PairWinogradCase& c = GetParam();
  PairKernels kernels;
  const ConvolutionParams p = {.padding = c.padding};
  const Shape x_shape = {c.images, c.channels, c.size.h, c.size.w};
  const Shape w_shape = {c.filters, c.channels, 3, 3};
  const Tensor x = whole_numbers(x_shape, 1, 2, 1);
  const Tensor w = whole_numbers(w_shape, 2, 2, 4);
  // In float32, by the direct kernels of oneDNN.
  const Symbol x32 = kernels.input(DType::kFloat32, x_shape);
  const Symbol w32 = kernels.input(DType::kFloat32, w_shape);
  const Node& exact = kernels.emit<Convolution>(p, std::vector{x32, w32});
  const Symbol half = kernels.input(DType::kBFloat16, x_shape);
  const Node& forward = kernels.emit<Convolution>(p, std::vector{half, w32});
  expect_equal(
      forward, {x, w}, p, [&](const KernelRequest& r) { return pair_winograd_forward(r, p, {}); }, kernels,
      kernels.run(exact, {x, w}, kernels.library().prepare({exact, Layout::kNhwc, "direct", 1})));

  const Shape& y_shape = exact.outputs[0].shape;
  const Tensor dy = whole_numbers(y_shape, 3, 2, 1);
  const ConvolutionGradientParams gradient = {p, c.size};
  const Node& exact_back = kernels.emit<ConvolutionBackwardData>(
      gradient, std::vector{kernels.input(DType::kFloat32, y_shape), w32});
  const Node& back = kernels.emit<ConvolutionBackwardData>(
      gradient, std::vector{kernels.input(DType::kBFloat16, y_shape), w32});
  expect_equal(
      back, {dy, w}, p, [&](const KernelRequest& r) { return pair_winograd_backward_data(r, p); }, kernels,
      kernels.run(exact_back, {dy, w}, kernels.library().prepare({exact_back, Layout::kNhwc, "direct", 1})));
}

INSTANTIATE_TEST_SUITE_P(Cpu, PairWinograd, testing::ValuesIn(pair_winograd_cases()),
                         [](const auto& param) { return param.param.name; });

class PairWinogradRounding : public WithPairs<testing::Test> {};

/// With numbers that are rounded: the error relative to the deviation of the results, as in the header.
TEST_F(PairWinogradRounding, is_near_twice_that_of_rounded_weights) {
  PairKernels kernels;
  const ConvolutionParams p = {.padding = {1, 1, 1, 1}};
  const Tensor x = random_tensor({2, 64, 16, 16}, 1).cast(DType::kBFloat16).cast(DType::kFloat64);
  const Tensor w = random_tensor({32, 64, 3, 3}, 2);
  const Symbol w32 = kernels.input(DType::kFloat32, w.shape());
  const Node& exact =
      kernels.emit<Convolution>(p, std::vector{kernels.input(DType::kFloat32, x.shape()), w32});
  const Node& node =
      kernels.emit<Convolution>(p, std::vector{kernels.input(DType::kBFloat16, x.shape()), w32});
  const Tensor expected =
      kernels.run(exact, {x, w}, kernels.library().prepare({exact, Layout::kNhwc, "direct", 1}));
  const Tensor found =
      kernels.run(node, {x, w}, pair_winograd_forward({node, Layout::kBlocked, kPairWinograd, 1}, p, {}));
  double error = 0;
  double square = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    error += std::pow(found.at(i) - expected.at(i), 2);
    square += std::pow(expected.at(i), 2);
  }
  EXPECT_LT(std::sqrt(error / square), 0.005);
  EXPECT_GT(std::sqrt(error / square), 0.001) << "nothing was rounded: another kernel?";
}

/// The end of the kernel: a bias for each filter, then the activation, in both types.
TEST_F(PairWinogradRounding, has_bias_and_activation) {
  PairKernels kernels;
  const ConvolutionParams p = {.padding = {1, 1, 1, 1}};
  const Tensor x = whole_numbers({2, 16, 5, 7}, 1, 2, 1);
  const Tensor w = whole_numbers({48, 16, 3, 3}, 2, 1, 4);
  const Symbol half = kernels.input(DType::kBFloat16, x.shape());
  const Symbol w32 = kernels.input(DType::kFloat32, w.shape());
  const Tensor bias = whole_numbers({48}, 3, 9, 1);
  const Node& node = kernels.emit<Convolution>(p, std::vector{half, w32});
  const Tensor plain =
      kernels.run(node, {x, w}, pair_winograd_forward({node, Layout::kBlocked, kPairWinograd, 1}, p, {}));
  // The kernel reads the bias as its third operand; the node tells only types and shapes.
  Node with_bias = node;
  with_bias.inputs.push_back(kernels.input(DType::kFloat32, bias.shape()));
  const Tensor found = kernels.run(with_bias, {x, w, bias},
                                   pair_winograd_forward({with_bias, Layout::kBlocked, kPairWinograd, 2}, p,
                                                         {.bias = true, .relu = true}));
  const int64_t pixels = 5 * 7;
  int zeros = 0;
  for (int64_t i = 0; i < plain.elements(); ++i) {
    const double expected = std::max(plain.at(i) + bias.at(i / pixels % 48), 0.0);
    ASSERT_EQ(found.at(i), expected) << i;
    zeros += expected == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 100) << "no activation was needed";
}

TEST(PairWinogradFit, only_where_the_kernel_has_code) {
  PairKernels kernels;
  const auto fit = [&](DType type, int64_t channels, int64_t filters, int64_t side,
                       const ConvolutionParams& p) {
    const Symbol x = kernels.input(type, {2, channels, 9, 9});
    const Symbol w = kernels.input(DType::kFloat32, {filters, channels / p.groups, side, side});
    return pair_winograd_fits(kernels.emit<Convolution>(p, std::vector{x, w}), p);
  };
  EXPECT_EQ(fit(DType::kBFloat16, 16, 32, 3, {}), simd::has_pair_products());
  EXPECT_FALSE(fit(DType::kFloat32, 16, 32, 3, {})) << "float32";
  EXPECT_FALSE(fit(DType::kBFloat16, 24, 32, 3, {})) << "channels that fill no block";
  EXPECT_FALSE(fit(DType::kBFloat16, 16, 20, 3, {})) << "filters that fill no block";
  EXPECT_FALSE(fit(DType::kBFloat16, 16, 32, 5, {})) << "5x5";
  EXPECT_FALSE(fit(DType::kBFloat16, 16, 32, 3, {.stride = {2, 2}})) << "a stride";
  EXPECT_FALSE(fit(DType::kBFloat16, 32, 32, 3, {.groups = 2})) << "groups";
}

}  // namespace
}  // namespace tpack::cpu
