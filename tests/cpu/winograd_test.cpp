#include "cpu/convolution/winograd.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ops/op_cases.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

struct WinogradCase {
  const char* name;
  int64_t channels;
  int64_t filters;
  Size2 size;
  Padding2 padding;
  int64_t images = 3;
};

testkit::Function convolution_of(const WinogradCase& c) {
  return [padding = c.padding](Builder& b, Symbols in) {
    return std::vector{convolution(b, in[0], in[1], {.padding = padding})};
  };
}

/// With a bias and a ReLU, which are part of the kernel.
testkit::Function layer_of(const WinogradCase& c) {
  return [padding = c.padding](Builder& b, Symbols in) {
    const Symbol y = convolution(b, in[0], in[1], {.padding = padding});
    return std::vector{b.max(b.add(y, per_channel(b, in[2], y.shape())), 0.0)};
  };
}

std::vector<Tensor> inputs_of(const WinogradCase& c) {
  return {random_tensor({c.images, c.channels, c.size.h, c.size.w}, 1),
          random_tensor({c.filters, c.channels, 3, 3}, 2), random_tensor({c.filters}, 3)};
}

std::ostream& operator<<(std::ostream& out, const WinogradCase& c) { return out << c.name; }

/// Checks that `algorithm` computed the convolution (by its kernel of kind `forward`) and both gradients: the
/// results are rounded differently from those of direct convolutions, so nothing fell back to them.
void expect_was_used(const std::string& algorithm, const char* forward,
                     const testkit::BackendCheckResult& result, const testkit::Function& function,
                     const std::vector<Tensor>& inputs) {
  for (const std::string& kind : {std::string(forward), std::string("ConvolutionBackwardData"),
                                  std::string("ConvolutionBackwardWeights")})
    EXPECT_EQ(std::count(result.kinds.begin(), result.kinds.end(), kind), 1) << kind;
  int convolutions = 0;
  for (const auto& [path, choice] : result.plan.nodes) {
    if (choice.algorithm.empty()) continue;
    EXPECT_EQ(choice.algorithm, algorithm) << path;
    ++convolutions;
  }
  EXPECT_EQ(convolutions, 3);
  const auto ours =
      testkit::evaluate_on_cpu(function, inputs, {.layout = "nChw16c", .convolution = algorithm});
  const auto direct =
      testkit::evaluate_on_cpu(function, inputs, {.layout = "nChw16c", .convolution = "direct"});
  for (const size_t i : {0U, 1U, 2U})  // the output, the gradients of image and weights
    EXPECT_FALSE(bit_equal(ours.at(i), direct.at(i))) << i;
}

std::vector<WinogradCase> winograd_cases() {
  return {WinogradCase{"whole_tiles", 16, 32, {8, 8}, {1, 1, 1, 1}},
          WinogradCase{"parts_of_tiles", 32, 16, {7, 14}, {1, 1, 1, 1}},
          WinogradCase{"channels_that_fill_no_block", 17, 20, {5, 6}, {1, 1, 1, 1}},
          WinogradCase{"fewer_channels_than_a_block", 3, 5, {9, 7}, {1, 1, 1, 1}, 5},
          WinogradCase{"one_channel", 1, 33, {11, 13}, {1, 1, 1, 1}, 2},
          WinogradCase{"one_filter", 33, 1, {13, 11}, {1, 1, 1, 1}, 2},
          WinogradCase{"no_padding", 24, 48, {9, 6}, {0, 0, 0, 0}},
          WinogradCase{"wide_padding", 16, 16, {3, 5}, {2, 2, 2, 2}},
          WinogradCase{"padding_wider_than_the_window", 16, 20, {4, 5}, {3, 4, 3, 3}, 2},
          WinogradCase{"padding_on_two_sides", 16, 40, {6, 10}, {0, 1, 1, 0}},
          WinogradCase{"padding_on_one_side", 18, 16, {5, 9}, {2, 0, 0, 1}, 7},
          WinogradCase{"one_tile", 64, 64, {3, 3}, {1, 1, 1, 1}, 1},
          WinogradCase{"one_pixel", 16, 16, {1, 1}, {1, 1, 1, 1}, 2},
          WinogradCase{"one_row", 20, 16, {1, 19}, {1, 1, 1, 1}, 5},
          WinogradCase{"images_that_pieces_do_not_divide", 20, 24, {10, 9}, {1, 1, 1, 1}, 7},
          WinogradCase{"many_chunks", 128, 96, {14, 14}, {1, 1, 1, 1}, 4}};
}

class Winograd : public testing::TestWithParam<std::tuple<WinogradCase, const char*>> {
 protected:
  /// Output and both gradients, in one piece and in several.
  void expect_same(const char* forward, const testkit::Function& function,
                   const std::vector<Tensor>& inputs) const {
    const auto& [c, algorithm] = GetParam();
    if (algorithm == std::string("winograd") &&
        (!cpu::onednn_winograd_fits({.padding = c.padding}) || c.channels < 4)) {
      EXPECT_THROW(
          testkit::evaluate_on_cpu(function, inputs, {.layout = "nChw16c", .convolution = algorithm}),
          ConfigError);
      return;
    }
    const testkit::BackendCheck check(function, inputs);
    for (const int threads : {1, 2, 3}) {
      const auto result = check.run({.layout = "nChw16c", .convolution = algorithm, .threads = threads});
      EXPECT_LT(result.largest_error, 2e-5) << threads << " threads: " << result.text;
      if (threads == 1) expect_was_used(algorithm, forward, result, function, inputs);
    }
  }
};

TEST_P(Winograd, agrees_with_the_reference) {
  const WinogradCase& c = std::get<0>(GetParam());
  std::vector<Tensor> inputs = inputs_of(c);
  inputs.pop_back();
  expect_same("Convolution", convolution_of(c), inputs);
}

TEST_P(Winograd, agrees_with_the_reference_with_bias_and_activation) {
  const WinogradCase& c = std::get<0>(GetParam());
  expect_same("FusedConvolution", layer_of(c), inputs_of(c));
}

INSTANTIATE_TEST_SUITE_P(Cpu, Winograd,
                         testing::Combine(testing::ValuesIn(winograd_cases()),
                                          testing::Values(cpu::kTiledWinograd, "winograd")),
                         [](const auto& param) {
                           const std::string algorithm =
                               std::get<1>(param.param) == std::string("winograd") ? "onednn" : "tiled";
                           return std::string(std::get<0>(param.param).name) + "_" + algorithm;
                         });

/// Images of 16 bits (each rounding: a 512th); all else is float32, as above. Sweeps before and after, so
/// that the images are stored.
class TiledWinogradInBf16 : public testing::TestWithParam<WinogradCase> {};

TEST_P(TiledWinogradInBf16, agrees_with_the_reference) {
  const auto function = [padding = GetParam().padding](Builder& b, Symbols in) {
    const Symbol y = convolution(b, b.sigmoid(in[0]), in[1], {.padding = padding});
    return std::vector{b.sigmoid(b.mul(b.add(y, per_channel(b, in[2], y.shape())), 0.1))};
  };
  const testkit::BackendCheck check(function, inputs_of(GetParam()));
  for (const int threads : {1, 3}) {
    const auto result = check.run({.layout = "nChw16c",
                                   .convolution = cpu::kTiledWinograd,
                                   .threads = threads,
                                   .precision = Precision::kBf16});
    EXPECT_LT(result.largest_error, 2e-2) << threads << " threads: " << result.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, TiledWinogradInBf16, testing::ValuesIn(winograd_cases()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(TiledWinograd, fits_only_windows_of_3x3_that_move_by_one) {
  EXPECT_TRUE(cpu::tiled_winograd_fits({}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({}, {16, 16, 5, 5}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.stride = {2, 2}}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.dilation = {2, 2}}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.groups = 2}, {16, 8, 3, 3}));
}

TEST(TiledWinograd, is_rejected_in_other_layouts) {
  const WinogradCase c = {"", 16, 16, {4, 4}, {1, 1, 1, 1}};
  EXPECT_THROW(testkit::evaluate_on_cpu(convolution_of(c), inputs_of(c),
                                        {.layout = "nhwc", .convolution = cpu::kTiledWinograd}),
               ConfigError);
}

}  // namespace
}  // namespace tpack
