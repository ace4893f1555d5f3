#include <numeric>

#include <gmock/gmock-matchers.h>

#include "layers/layer_cases.h"
#include "ops/window.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

using testing::ElementsAre;

std::vector<double> numbers_of(const Tensor& y) {
  std::vector<double> all;
  for (int64_t i = 0; i < y.elements(); ++i) all.push_back(y.at(i));
  return all;
}

Tensor padded(const std::string& layer, const Tensor& x) {
  return testkit::evaluate(function_of("- " + layer), {x}, DType::kFloat64)[0];
}

/// 1 to 16 in four rows.
Tensor four_rows() {
  std::vector<double> values(16);
  std::iota(values.begin(), values.end(), 1);
  return Tensor::of<double>({1, 1, 4, 4}, values);
}

/// Sums of windows by hand: those of TensorFlow begin at the first pixel, those of PyTorch one before it.
TEST(Padding, at_stride_2_is_that_of_tensorflow_or_of_pytorch) {
  const auto sums = [](const std::string& padding) {
    return numbers_of(padded(
        "Conv2D: {filters: 1, stride: 2, kernel_initializer: {Constant: {value: 1}}, padding: " + padding +
            "}",
        four_rows()));
  };
  EXPECT_THAT(sums("same"), ElementsAre(54, 45, 72, 54));
  EXPECT_THAT(sums("1"), ElementsAre(14, 30, 57, 99));
  EXPECT_EQ(sums("[[0, 1], [0, 1]]"), sums("same"));
  EXPECT_EQ(sums("[1, 1]"), sums("1"));
  EXPECT_EQ(sums("[[1, 1], [1, 1]]"), sums("1"));
}

/// As zeros that a layer adds before, also more than the kernel has.
TEST(Padding, of_convolutions_is_zeros_around_the_image) {
  const Tensor x = testkit::random_tensor({2, 3, 5, 4}, 7);
  const std::string more = "filters: 2, kernel: [2, 3], stride: [2, 1], dilation: [1, 2], padding: ";
  const Tensor before =
      testkit::evaluate(function_of("[{Pad: {image: [1, 4, 0, 3]}}, {Conv2D: {name: c, " + more + "valid}}]"),
                        {x}, DType::kFloat64)[0];
  const Tensor inside = padded("Conv2D: {name: c, " + more + "[[1, 0], [4, 3]]}", x);
  ASSERT_EQ(before.shape(), inside.shape());
  for (int64_t i = 0; i < before.elements(); ++i) EXPECT_NEAR(before.at(i), inside.at(i), 1e-12);
}

TEST(Padding, of_poolings_never_counts) {
  EXPECT_THAT(numbers_of(padded("MaxPooling: {window: 3, stride: 2, padding: 1}", four_rows())),
              ElementsAre(6, 8, 14, 16));
  Tensor below = four_rows();
  for (double& value : below.span<double>()) value -= 20;
  EXPECT_THAT(numbers_of(padded("MaxPooling: {window: 3, stride: 2, padding: 1}", below)),
              ElementsAre(-14, -12, -6, -4));
  EXPECT_THAT(numbers_of(padded("AvgPooling: {window: 3, stride: 2, padding: 1}", four_rows())),
              ElementsAre(14.0 / 4, 30.0 / 6, 57.0 / 6, 99.0 / 9));
}

/// PyTorch: (n - 1) * stride - 2 * padding + kernel; what is left of the whole output.
TEST(Padding, of_transposed_convolutions_is_cut_off) {
  const Tensor x = testkit::random_tensor({1, 2, 3, 4}, 8);
  const std::string more = "name: t, filters: 2, kernel: [4, 3], stride: 2, padding: ";
  const Tensor whole = padded("Conv2DTranspose: {" + more + "0}", x);
  const Tensor cut = padded("Conv2DTranspose: {" + more + "[[1, 2], [0, 1]]}", x);
  ASSERT_EQ(whole.shape(), (Shape{1, 2, 8, 9}));
  ASSERT_EQ(cut.shape(), (Shape{1, 2, 5, 8}));
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 8; ++j)
        EXPECT_NEAR(cut.at((c * 5 + i) * 8 + j), whole.at((c * 8 + i + 1) * 9 + j), 1e-12);
    }
  }
}

TEST(Padding, is_the_same_on_both_backends) {
  for (const char* layer :
       {"Conv2D: {filters: 20, stride: 2, padding: 1}", "Conv2D: {filters: 17, padding: 1}",
        "Conv2D: {filters: 16, kernel: 3, padding: [[3, 0], [0, 4]]}",
        "Conv2D: {filters: 32, kernel: 3, padding: [[0, 1], [2, 0]]}",
        "MaxPooling: {window: 3, stride: 2, padding: 1}",
        "AvgPooling: {window: 3, stride: 2, padding: [[2, 0], [1, 2]]}",
        "Conv2DTranspose: {filters: 18, kernel: 4, stride: 2, padding: 1}",
        "Conv2DTranspose: {filters: 3, kernel: 3, stride: 2, padding: [[0, 1], [2, 1]]}"}) {
    SCOPED_TRACE(layer);
    const testkit::BackendCheck check(function_of(std::string("- ") + layer),
                                      {testkit::random_tensor({2, 16, 9, 8}, 3)});
    using enum DeviceOptions::Algorithm;
    for (const auto& [algorithm, layout] :
         {std::pair(kDirect, "nhwc"), std::pair(kDirect, "nChw16c"), std::pair(kHeuristic, "")}) {
      const testkit::BackendCheckResult result = check.run({.algorithm = algorithm, .layout = layout});
      EXPECT_LT(result.largest_error, 2e-5) << layout << ": " << result.text;
    }
  }
}

TEST(Padding, is_written_as_short_as_it_was) {
  for (const char* text : {"same", "valid", "3", "[1,2]", "[[1,2],[3,4]]", "0"}) {
    Diagnostics errors;
    Reader reader("'padding'", {}, errors);
    const auto read = Codec<PaddingSetting>::parse(parse_yaml(text, "p.yaml"), reader);
    ASSERT_TRUE(read) << text;
    std::string back = to_json(Codec<PaddingSetting>::dump(*read));
    std::erase_if(back, [](char c) { return c == ' ' || c == '"'; });
    EXPECT_EQ(back, text);
  }
}

}  // namespace
}  // namespace tpack
