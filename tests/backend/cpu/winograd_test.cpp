#include "backend/cpu/winograd.h"

#include <gtest/gtest.h>

#include "ops/op_cases.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

struct Case {
  const char* name;
  int64_t channels;
  int64_t filters;
  Size2 size;
  Padding2 padding;
  int64_t images = 3;
};

testkit::Function convolution_of(const Case& c) {
  return [padding = c.padding](Builder& b, Symbols in) {
    return std::vector{convolution(b, in[0], in[1], {.padding = padding})};
  };
}

std::vector<Tensor> inputs_of(const Case& c) {
  return {random_tensor({c.images, c.channels, c.size.h, c.size.w}, 1),
          random_tensor({c.filters, c.channels, 3, 3}, 2)};
}

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class Winograd : public testing::TestWithParam<std::tuple<Case, const char*, int>> {};

/// Output and both gradients.
TEST_P(Winograd, agrees_with_the_reference) {
  const auto& [c, algorithm, threads] = GetParam();
  if (algorithm == std::string("winograd") && !cpu::onednn_winograd_fits({.padding = c.padding})) {
    EXPECT_THROW(testkit::evaluate_on_cpu(convolution_of(c), inputs_of(c),
                                          {.layout = "nChw16c", .convolution = algorithm}),
                 ConfigError);
    return;
  }
  const auto result = testkit::check_backend(
      convolution_of(c), inputs_of(c), {.layout = "nChw16c", .convolution = algorithm, .threads = threads});
  EXPECT_LT(result.largest_error, 2e-5) << result.text;
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, Winograd,
    testing::Combine(testing::Values(Case{"whole_tiles", 16, 32, {8, 8}, {1, 1, 1, 1}},
                                     Case{"parts_of_tiles", 32, 16, {7, 14}, {1, 1, 1, 1}},
                                     Case{"channels_that_fill_no_block", 17, 20, {5, 6}, {1, 1, 1, 1}},
                                     Case{"no_padding", 24, 48, {9, 6}, {0, 0, 0, 0}},
                                     Case{"wide_padding", 16, 16, {3, 5}, {2, 2, 2, 2}},
                                     Case{"padding_on_two_sides", 16, 40, {6, 10}, {0, 1, 1, 0}},
                                     Case{"one_tile", 64, 64, {3, 3}, {1, 1, 1, 1}, 1},
                                     Case{"many_chunks", 128, 96, {14, 14}, {1, 1, 1, 1}, 4}),
                     testing::Values(cpu::kTiledWinograd, "winograd"), testing::Values(1, 2)),
    [](const auto& param) {
      const std::string algorithm = std::get<1>(param.param) == std::string("winograd") ? "onednn" : "tiled";
      return std::string(std::get<0>(param.param).name) + "_" + algorithm + "_" +
             std::to_string(std::get<2>(param.param));
    });

TEST(TiledWinograd, fits_only_windows_of_3x3_that_move_by_one) {
  EXPECT_TRUE(cpu::tiled_winograd_fits({}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({}, {16, 16, 5, 5}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.stride = {2, 2}}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.dilation = {2, 2}}, {16, 16, 3, 3}));
  EXPECT_FALSE(cpu::tiled_winograd_fits({.groups = 2}, {16, 8, 3, 3}));
}

TEST(TiledWinograd, is_refused_in_other_layouts) {
  const Case c = {"", 16, 16, {4, 4}, {1, 1, 1, 1}};
  EXPECT_THROW(testkit::evaluate_on_cpu(convolution_of(c), inputs_of(c),
                                        {.layout = "nhwc", .convolution = cpu::kTiledWinograd}),
               ConfigError);
}

}  // namespace
}  // namespace tpack
