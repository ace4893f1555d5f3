#include "dataflow/map/tensor_map.h"

#include <limits>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map/map_data.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

Tensor mapped(const TensorMap& map, const Tensor& in) {
  Tensor out(map.spec(in.spec()));
  map.apply(in, out);
  return out;
}

TEST(MapData, changes_one_component_and_its_spec) {
  const DataFlow flow = yaml_flow("[Counting: 4, MapData: {map: {Scale: {scale: 10}}, component: k}]");
  EXPECT_EQ(flow.spec().str(), "k float32 [], pass int64 []");
  EXPECT_EQ(first_component(flow), (Integers{0, 10, 20, 30}));
}

TEST(MapData, needs_a_function) {
  expect_errors([](const std::string& item) { yaml_flow("[Counting: 4, MapData: " + item + "]"); },
                {{"{component: k}", {"map MapData: ", "'map' is missing"}},
                 {"{map: Scal}", {"'Scal'", "did you mean 'Scale'?"}}});
}

TEST(Cast, converts_elements) {
  const auto cast = Registry<TensorMap>::make("Cast", "int64");
  const Tensor out = mapped(*cast, Tensor::of<float>({2}, {-1.5F, 7.9F}));
  EXPECT_TRUE(bit_equal(out, Tensor::of<int64_t>({2}, {-1, 7})));
}

/// What Cast says of one number; "" if it converts it.
template <class T>
std::string rejected(const char* to, T value) {
  const auto cast = Registry<TensorMap>::make("Cast", to);
  const std::string error = error_of([&] { mapped(*cast, Tensor::of<T>({1}, {value})); });
  return error == "no error" ? "" : error;
}

TEST(Cast, rejects_numbers_that_the_type_does_not_have) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(says(rejected("int32", nan), {"Cast: nan is not a number of int32", "remove or replace"}));
  for (const char* type : {"int64", "uint8", "bool"}) EXPECT_NE(rejected(type, nan), "") << type;
  EXPECT_EQ(rejected("float64", nan), "");
  EXPECT_NE(rejected<float>("int32", 2147483648.0F), "");
  EXPECT_EQ(rejected<float>("int32", -2147483648.0F), "");
  EXPECT_NE(rejected<int32_t>("uint8", 256), "");
  EXPECT_NE(rejected<int32_t>("uint8", -1), "");
  EXPECT_EQ(rejected<float>("uint8", -0.9F), "") << "the fraction is cut off";
  EXPECT_EQ(rejected<int64_t>("bool", 256), "");
}

TEST(Cast, rejects_integers_that_a_float_rounds) {
  EXPECT_EQ(rejected<int32_t>("float32", 16777216), "");
  EXPECT_TRUE(says(rejected<int32_t>("float32", 16777217), {"Cast: 16777217", "float32", "Scale first"}));
  EXPECT_EQ(rejected<int32_t>("float32", 16777218), "") << "even";
  EXPECT_EQ(rejected<int32_t>("float64", 16777217), "");
  EXPECT_NE(rejected<int64_t>("float64", std::numeric_limits<int64_t>::max()), "");
  const auto scale = Registry<TensorMap>::make("Scale", {{"scale", 1}, {"offset", -16777000}});
  const Tensor out = mapped(*scale, Tensor::of<int32_t>({1}, {16777217}));
  EXPECT_EQ(out.at(0), 217);
}

/// The weights of ITU-R BT.601: red 0.299, green 0.587, blue 0.114.
TEST(Grayscale, weighs_red_green_and_blue) {
  const auto gray = Registry<TensorMap>::make("Grayscale");
  const TensorSpec spec{DType::kUInt8, {1, 4, 3}};
  EXPECT_EQ(gray->spec(spec).str(), "uint8 [1, 4, 1]");
  const Tensor out =
      mapped(*gray, Tensor::of<uint8_t>({1, 4, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9}));
  EXPECT_TRUE(bit_equal(out, Tensor::of<uint8_t>({1, 4, 1}, {76, 150, 29, 9})));
  const Tensor batch = Tensor::of<float>({2, 1, 1, 3}, {1, 0, 0, 0, 0, 2});
  const Tensor gray_batch = mapped(*gray, batch);
  EXPECT_LT(max_difference(gray_batch, Tensor::of<float>({2, 1, 1, 1}, {0.299F, 0.228F})), 1e-6);
}

TEST(Grayscale, keeps_gray_images_and_rejects_what_is_no_image) {
  const auto gray = Registry<TensorMap>::make("Grayscale");
  const Tensor image = Tensor::of<uint8_t>({1, 2, 1}, {3, 4});
  const Tensor out = mapped(*gray, image);
  EXPECT_TRUE(bit_equal(out, image));
  EXPECT_EQ(gray->spec({DType::kUInt8, {Shape::kUnknown, Shape::kUnknown, 3}}).str(), "uint8 [?, ?, 1]");
  EXPECT_THROW(gray->spec({DType::kUInt8, {4, 4, 2}}), ConfigError);
  EXPECT_THROW(gray->spec({DType::kInt32, {4, 4, 3}}), ConfigError);
  EXPECT_THROW(gray->spec({DType::kUInt8, {}}), ConfigError);
}

Tensor normalized(const ConfigNode& params, const Tensor& in) {
  return mapped(*Registry<TensorMap>::make("MeanVarianceNormalize", params), in);
}

const Tensor kPixels = Tensor::of<uint8_t>({2, 2, 2}, {0, 10, 255, 10, 7, 12, 30, 200});

/// (x - x.mean()) / x.std() of NumPy; with axis=(0, 1) for each channel.
TEST(MeanVarianceNormalize, has_the_numbers_of_numpy) {
  const Tensor all = Tensor::of<float>({2, 2, 2}, {-0.6904498F, -0.5850376F, 1.9975609F, -0.5850376F,
                                                   -0.6166613F, -0.5639552F, -0.3742133F, 1.4177939F});
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), kPixels), all), 1e-6);
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), kPixels.cast(DType::kFloat32)), all), 1e-6);
  const Tensor each = Tensor::of<float>({2, 2, 2}, {-0.6908810F, -0.5854529F, 1.7224703F, -0.5854529F,
                                                    -0.6246321F, -0.5610591F, -0.4069573F, 1.7319649F});
  EXPECT_LT(max_difference(normalized({{"all_channels", false}}, kPixels), each), 1e-6);
}

/// The deviation is at least 1 / sqrt(4).
TEST(MeanVarianceNormalize, does_not_divide_by_zero) {
  EXPECT_EQ(max_difference(normalized(ConfigNode::map({}), Tensor::of<float>({4}, {7, 7, 7, 7})),
                           Tensor::of<float>({4}, {0, 0, 0, 0})),
            0);
  EXPECT_LT(max_difference(normalized(ConfigNode::map({}), Tensor::of<float>({4}, {0, 0, 0, 0.4F})),
                           Tensor::of<float>({4}, {-0.2F, -0.2F, -0.2F, 0.6F})),
            1e-6);
}

std::string content_of_normalized(const std::string& item) {
  return content_of_flow(
      "[{FakeData: {shapes: [[2, 3]], names: [x], size: 5}}, {MapData: {component: x, map: " + item + "}}]");
}

const live::Fields kMeanVarianceNormalize("tensor map", "MeanVarianceNormalize",
                                          {.build = content_of_normalized});
const live::Fields kMinMaxNormalize("tensor map", "MinMaxNormalize", {.build = content_of_normalized});

Tensor in_range(const ConfigNode& params, const Tensor& in) {
  return mapped(*Registry<TensorMap>::make("MinMaxNormalize", params), in);
}

/// (x - x.min()) / (x.max() - x.min()) of NumPy, from -1 to 1; with axis=(0, 1) for each channel.
TEST(MinMaxNormalize, has_the_numbers_of_numpy) {
  const Tensor pixels = Tensor::of<uint8_t>({2, 2, 2}, {0, 10, 255, 10, 7, 12, 30, 200});
  EXPECT_LT(max_difference(in_range({{"min", -1}, {"max", 1}}, pixels),
                           Tensor::of<float>({2, 2, 2}, {-1, -0.92156863F, 1, -0.92156863F, -0.94509804F,
                                                         -0.90588235F, -0.76470588F, 0.56862745F})),
            1e-6);
  EXPECT_LT(max_difference(in_range({{"all_channels", false}}, pixels),
                           Tensor::of<float>({2, 2, 2}, {0, 0, 255, 0, 7, 2.6842105F, 30, 255})),
            1e-4);
}

TEST(MinMaxNormalize, makes_one_value_the_lower_end) {
  EXPECT_EQ(
      max_difference(in_range({{"min", 3}}, Tensor::of<float>({2}, {9, 9})), Tensor::of<float>({2}, {3, 3})),
      0);
  EXPECT_EQ(error_of([] {
              in_range({{"min", 300}}, Tensor::of<float>({1}, {0}));
            }),
            "MinMaxNormalize: 'min' must be below 'max'; swap them");
}

TEST(OneHot, adds_an_axis_of_classes) {
  const auto one_hot = Registry<TensorMap>::make("OneHot", 3);
  EXPECT_EQ(one_hot->spec({DType::kInt32, {2}}).str(), "float32 [2, 3]");
  const Tensor out(DType::kFloat32, {2, 3});
  one_hot->apply(Tensor::of<int32_t>({2}, {2, 0}), out);
  EXPECT_TRUE(bit_equal(out, Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 0})));
}

TEST(OneHot, rejects_numbers_that_are_no_class) {
  const auto one_hot = Registry<TensorMap>::make("OneHot", 3);
  const Tensor out(DType::kFloat32, {1, 3});
  EXPECT_THROW(one_hot->apply(Tensor::of<int32_t>({1}, {3}), out), DataError);
  EXPECT_THROW(one_hot->apply(Tensor::of<int32_t>({1}, {-1}), out), DataError);
  EXPECT_THROW(one_hot->spec({DType::kFloat32, {2}}), ConfigError);
}

TEST(Scale, multiplies_then_adds) {
  const auto scale = Registry<TensorMap>::make("Scale", {{"scale", 0.5}, {"offset", -1}});
  const Tensor out = mapped(*scale, Tensor::of<uint8_t>({3}, {0, 2, 255}));
  EXPECT_EQ(max_difference(out, Tensor::of<float>({3}, {-1, 0, 126.5F})), 0);
}

}  // namespace
}  // namespace tpack
