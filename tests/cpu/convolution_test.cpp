// Convolutions of fewer images than there are threads: each image is computed in parts.
#include "ops/convolution.h"

#include <ostream>

#include <gtest/gtest.h>

#include "cpu/library.h"
#include "cpu/onednn/onednn.h"
#include "cpu/piece_kernel.h"
#include "ops/op_cases.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

struct Case {
  const char* name;
  int64_t images;
  int64_t channels;
  int64_t filters;
  Size2 size;
  Size2 kernel = {3, 3};
  ConvolutionParams params = {.padding = {1, 1, 1, 1}};
  bool in_filters = true;  // in parts of filters, in blocked layout
  bool in_rows = true;     // in parts of rows, channels last
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::vector<Case> cases() {
  return {Case{"one_image", 1, 16, 64, {9, 7}},
          Case{"two_images", 2, 32, 96, {6, 10}},
          Case{"filters_that_parts_do_not_divide", 1, 32, 80, {8, 8}},
          Case{"one_by_one", 1, 64, 128, {7, 7}, {1, 1}, {}},
          Case{"strided", 1, 32, 64, {15, 14}, {3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}},
          Case{"strided_one_by_one", 1, 64, 64, {14, 14}, {1, 1}, {.stride = {2, 2}}},
          Case{"dilated", 1, 16, 32, {12, 11}, {3, 3}, {.dilation = {3, 2}, .padding = {3, 2, 3, 2}}},
          Case{"padding_on_one_side", 1, 16, 32, {9, 9}, {3, 3}, {.padding = {2, 0, 0, 1}}},
          Case{"first_layer", 1, 3, 64, {20, 20}, {7, 7}, {.stride = {2, 2}, .padding = {3, 3, 2, 2}}},
          Case{"few_rows", 1, 32, 64, {2, 9}},
          Case{"one_row", 1, 16, 64, {1, 9}, {3, 3}, {.padding = {1, 1, 1, 1}}, true, false},
          Case{"rows_of_padding_alone", 1, 16, 48, {2, 6}, {1, 1}, {.padding = {3, 0, 3, 0}}},
          Case{"filters_that_fill_no_block", 1, 16, 20, {9, 9}, {3, 3}, {.padding = {1, 1, 1, 1}}, false},
          Case{"groups", 1, 32, 32, {9, 8}, {3, 3}, {.padding = {1, 1, 1, 1}, .groups = 2}, false},
          Case{"depthwise", 1, 32, 32, {9, 8}, {3, 3}, {.padding = {1, 1, 1, 1}, .groups = 32}, false}};
}

std::vector<Tensor> inputs_of(const Case& c) {
  return {random_tensor({c.images, c.channels, c.size.h, c.size.w}, 1),
          random_tensor({c.filters, c.channels / c.params.groups, c.kernel.h, c.kernel.w}, 2),
          random_tensor({c.filters}, 3)};
}

/// A convolution with bias and ReLU in its kernel. Rounded factors may change the sign of a result, and so
/// the gradient of a ReLU: there is none in bf16.
testkit::Function layer_of(const Case& c, Precision precision) {
  return [params = c.params, precision](Builder& b, Symbols in) {
    const Symbol y = convolution(b, in[0], in[1], params);
    const Symbol biased = b.add(y, per_channel(b, in[2], y.shape()));
    return std::vector{precision == Precision::kFp32 ? b.max(biased, 0.0) : biased};
  };
}

class ConvolutionInParts : public testing::TestWithParam<std::tuple<Case, Precision>> {};

TEST_P(ConvolutionInParts, agrees_with_the_reference) {
  const auto& [c, precision] = GetParam();
  const testkit::BackendCheck check(layer_of(c, precision), inputs_of(c), Phase::kInference);
  for (const std::string layout : {"nhwc", "nChw16c"}) {
    if (layout == "nChw16c" && !cpu::has_avx512()) continue;  // no such direct kernels
    for (const int threads : {1, 2, 3, 5}) {
      const auto result = check.run({.layout = layout,
                                     .convolution = "direct",
                                     .threads = threads,
                                     .precision = precision,
                                     .phase = Phase::kInference});
      EXPECT_LT(result.largest_error, precision == Precision::kFp32 ? 1e-5 : 2e-2)
          << layout << ", " << threads << " threads: " << result.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ConvolutionInParts,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param).name) + "_" +
                                  name_of(std::get<1>(param.param));
                         });

class PartsOfConvolution : public testing::TestWithParam<Case> {};

TEST_P(PartsOfConvolution, are_as_many_as_there_is_use_for) {
  const Case& c = GetParam();
  cpu::use_one_onednn_thread();
  const auto library = cpu::make_library();
  VariableTable table;
  Graph graph;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {c.images, c.channels, c.size.h, c.size.w}});
  const Symbol w =
      b.input("w", {DType::kFloat32, {c.filters, c.channels / c.params.groups, c.kernel.h, c.kernel.w}});
  const Node& node = *convolution(b, x, w, c.params).node;
  const auto is_in_parts = [&](Layout layout, int pieces) {
    const PreparedKernel kernel = library->prepare({node, layout, "direct", pieces});
    return dynamic_cast<const cpu::PieceKernel*>(kernel.kernel.get()) != nullptr;
  };
  const int pieces = static_cast<int>(2 * c.images);
  EXPECT_EQ(is_in_parts(Layout::kNhwc, pieces), c.in_rows || c.images > 1);
  if (cpu::has_avx512()) {
    EXPECT_EQ(is_in_parts(Layout::kBlocked, pieces), c.in_filters || c.images > 1);
  }
  EXPECT_FALSE(is_in_parts(Layout::kNhwc, 1));
}

INSTANTIATE_TEST_SUITE_P(Cpu, PartsOfConvolution, testing::ValuesIn(cases()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tpack
