// NaNs propagate on the cpu backend as on the reference backend and in PyTorch.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cpu/convolution/winograd.h"
#include "ops/op_cases.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

using testkit::BackendVariant;
using testkit::Function;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor with_nan_at(Tensor tensor, int64_t element) {
  tensor.data<double>()[element] = kNan;
  return tensor;
}

/// Which elements of a tensor are NaN: "..x.".
std::string nans_of(const Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.elements(); ++i) text += std::isnan(tensor.at(i)) ? 'x' : '.';
  return text;
}

std::string nans_on_reference(const Function& function, const std::vector<Tensor>& inputs) {
  return nans_of(testkit::evaluate(function, inputs, DType::kFloat64)[0]);
}
std::string nans_on_cpu(const Function& function, const std::vector<Tensor>& inputs,
                        const BackendVariant& variant = {}) {
  return nans_of(testkit::evaluate_on_cpu(function, inputs, variant)[0]);
}

/// A NaN in each operand of a minimum or maximum, at every place of vectors that do and do not fill
/// registers.
TEST(Nan, is_the_larger_and_the_smaller_of_two) {
  for (const auto fn : {pointwise::Fn::kMax, pointwise::Fn::kMin}) {
    const Function of_two = [fn](Builder& b, Symbols in) { return std::vector{b.apply(fn, {in[0], in[1]})}; };
    for (const int64_t size : {1, 7, 16, 33}) {
      for (int64_t at = 0; at < size; ++at) {
        const Tensor x = random_tensor({size}, 1);
        const Tensor y = random_tensor({size}, 2);
        std::string expected(static_cast<size_t>(size), '.');
        expected[static_cast<size_t>(at)] = 'x';
        for (const auto& inputs :
             {std::vector{with_nan_at(x.clone(), at), y}, std::vector{x, with_nan_at(y.clone(), at)}}) {
          EXPECT_EQ(nans_on_reference(of_two, inputs), expected);
          EXPECT_EQ(nans_on_cpu(of_two, inputs), expected);
        }
      }
    }
  }
}

TEST(Nan, passes_functions_of_one_number) {
  const std::vector<Tensor> x = {with_nan_at(random_tensor({37}, 1, DType::kFloat64, 0.1, 1), 5)};
  std::string expected(37, '.');
  expected[5] = 'x';
  const std::vector<std::pair<const char*, Function>> functions = {
      {"relu", [](Builder& b, Symbols in) { return std::vector{b.max(in[0], 0.0)}; }},
      {"relu from the left", [](Builder& b, Symbols in) { return std::vector{b.max(0.0, in[0])}; }},
      {"clipped", [](Builder& b, Symbols in) { return std::vector{b.min(b.max(in[0], 0.0), 6.0)}; }},
      {"exp", [](Builder& b, Symbols in) { return std::vector{b.exp(in[0])}; }},
      {"log", [](Builder& b, Symbols in) { return std::vector{b.log(in[0])}; }},
      {"sqrt", [](Builder& b, Symbols in) { return std::vector{b.sqrt(in[0])}; }},
      {"tanh", [](Builder& b, Symbols in) { return std::vector{b.tanh(in[0])}; }},
      {"sigmoid", [](Builder& b, Symbols in) { return std::vector{b.sigmoid(in[0])}; }},
      {"abs", [](Builder& b, Symbols in) { return std::vector{b.abs(in[0])}; }},
      {"floor", [](Builder& b, Symbols in) { return std::vector{b.floor(in[0])}; }}};
  for (const auto& [name, function] : functions) {
    EXPECT_EQ(nans_on_reference(function, x), expected) << name;
    EXPECT_EQ(nans_on_cpu(function, x), expected) << name;
  }
}

/// Reductions of a whole tensor, of rows, of columns, of images in all layouts, and of a tensor that is large
/// enough to be cut into pieces.
TEST(Nan, is_the_largest_of_a_reduction) {
  struct Reduced {
    Shape shape;
    std::vector<int> axes;
  };
  const std::vector<Reduced> cases = {
      {{5}, {0}},          {{40}, {0}},      {{3, 37}, {1}},       {{37, 3}, {0}},
      {{37, 19}, {0}},     {{4, 5, 6}, {1}}, {{2, 20, 3, 5}, {1}}, {{2, 20, 3, 5}, {0, 2, 3}},
      {{300, 257}, {0, 1}}};
  for (const Reduced& c : cases) {
    const Function largest = [&c](Builder& b, Symbols in) {
      return std::vector{b.reduce_max(b.mul(in[0], 2.0), c.axes)};
    };
    const int64_t elements = c.shape.elements();
    for (const int64_t at : {int64_t{0}, int64_t{1}, elements / 2, elements - 2, elements - 1}) {
      const std::vector<Tensor> x = {with_nan_at(random_tensor(c.shape, 1), at)};
      const std::string expected = nans_on_reference(largest, x);
      EXPECT_EQ(std::count(expected.begin(), expected.end(), 'x'), 1) << c.shape.str() << " at " << at;
      for (const char* layout : {"", "nhwc", "nChw16c"}) {
        for (const int threads : {1, 2})
          EXPECT_EQ(nans_on_cpu(largest, x, {.layout = layout, .threads = threads}), expected)
              << c.shape.str() << " at " << at << " " << layout;
      }
    }
  }
}

/// The activation of a convolution and of a product is part of their kernels.
TEST(Nan, passes_the_activation_of_a_product) {
  const Function layer = [](Builder& b, Symbols in) {
    const Symbol y = matmul(b, in[0], in[1], {});
    return std::vector{b.max(b.add(y, in[2]), 0.0)};
  };
  const std::vector<Tensor> inputs = {with_nan_at(random_tensor({5, 20}, 1), 43), random_tensor({20, 7}, 2),
                                      random_tensor({7}, 3)};
  const std::string expected = nans_on_reference(layer, inputs);
  EXPECT_EQ(expected, std::string(14, '.') + std::string(7, 'x') + std::string(14, '.'));
  EXPECT_EQ(nans_on_cpu(layer, inputs), expected);
}

class NanOfConvolution : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(NanOfConvolution, passes_its_activation) {
  const auto& [layout, algorithm] = GetParam();
  if (algorithm == std::string("winograd") && !cpu::onednn_winograd_fits({}))
    GTEST_SKIP() << "this CPU has no AVX-512";
  const Function layer = [](Builder& b, Symbols in) {
    const Symbol y = convolution(b, in[0], in[1], {.padding = {1, 1, 1, 1}});
    return std::vector{b.max(b.add(y, per_channel(b, in[2], y.shape())), 0.0)};
  };
  const std::vector<Tensor> inputs = {with_nan_at(random_tensor({2, 16, 12, 12}, 1), 16 * 144 + 5 * 12 + 6),
                                      random_tensor({16, 16, 3, 3}, 2), random_tensor({16}, 3)};
  const std::string expected = nans_on_reference(layer, inputs);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), 'x'), 16 * 9);
  const std::string ours = nans_on_cpu(layer, inputs, {.layout = layout, .convolution = algorithm});
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(expected[i] == '.' || ours[i] == 'x') << "element " << i;
  }
  // Winograd spreads it over the tiles that read it, no further.
  EXPECT_EQ(ours.find('x') / (16 * 144), 1U);
  EXPECT_NE(ours.find('.', 16 * 144), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Cpu, NanOfConvolution,
                         testing::Values(std::pair("nhwc", "direct"), std::pair("nChw16c", "direct"),
                                         std::pair("nChw16c", "winograd-tiled"),
                                         std::pair("nChw16c", "winograd")));

TEST(Nan, is_the_cost_of_scores_that_have_one) {
  const Function cost = [](Builder& b, Symbols in) {
    return std::vector{b.emit<SoftmaxCrossEntropy>({}, {in[0], in[1]}).out()};
  };
  for (const int64_t at : {0, 3, 19}) {
    const std::vector<Tensor> inputs = {with_nan_at(random_tensor({3, 20}, 1), 20 + at),
                                        random_labels(3, 20, 2)};
    EXPECT_EQ(nans_on_reference(cost, inputs), ".x.");
    EXPECT_EQ(nans_on_cpu(cost, inputs), ".x.");
  }
}

}  // namespace
}  // namespace tpack
