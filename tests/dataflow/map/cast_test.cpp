#include <limits>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

TEST(Cast, converts_elements) {
  const auto cast = Registry<TensorMap>::make("Cast", "int64");
  const Tensor out(cast->spec({DType::kFloat32, {2}}));
  cast->apply(Tensor::of<float>({2}, {-1.5F, 7.9F}), out);
  EXPECT_TRUE(bit_equal(out, Tensor::of<int64_t>({2}, {-1, 7})));
}

/// What Cast says of one number; "" if it converts it.
template <class T>
std::string rejected(const char* to, T value) {
  const auto cast = Registry<TensorMap>::make("Cast", to);
  const Tensor in = Tensor::of<T>({1}, {value});
  const Tensor out(cast->spec(in.spec()));
  try {
    cast->apply(in, out);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(Cast, rejects_numbers_that_the_type_does_not_have) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(rejected("int32", nan),
            "Cast: nan is not a number of int32; remove or replace such values before it");
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
  EXPECT_EQ(
      rejected<int32_t>("float32", 16777217),
      "Cast: 16777217 is not a number of float32, which rounds it; subtract an offset with Scale first");
  EXPECT_EQ(rejected<int32_t>("float32", 16777218), "") << "even";
  EXPECT_EQ(rejected<int32_t>("float64", 16777217), "");
  EXPECT_NE(rejected<int64_t>("float64", std::numeric_limits<int64_t>::max()), "");
  const auto scale = Registry<TensorMap>::make("Scale", {{"scale", 1}, {"offset", -16777000}});
  const Tensor out(scale->spec({DType::kInt32, {1}}));
  scale->apply(Tensor::of<int32_t>({1}, {16777217}), out);
  EXPECT_EQ(out.at(0), 217);
}

}  // namespace
}  // namespace tpack
