#include "dataflow/sample_functions.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

TEST(SampleReductions, pass_nan_on) {
  const std::vector<double> x = {1, kNoNumber, 3};
  for (const char* name : {"max", "min", "mean", "sum", "norm"})
    EXPECT_TRUE(std::isnan(sample_reduction(name)->of(x))) << name;
  EXPECT_EQ(sample_reduction("argmax")->of(x), 1) << "as numpy.argmax";
  EXPECT_EQ(sample_reduction("argmax")->of(std::vector<double>{2, 5, 5}), 1) << "the first of the largest";
}

TEST(ResultTypes, keep_integers_until_a_float_comes) {
  using D = DType;
  using pointwise::Result;
  const auto type = [](Result result, const std::vector<D>& operands) {
    return result_type(result, operands);
  };
  EXPECT_EQ(type(Result::kSame, {D::kUInt8, D::kUInt8}), D::kInt32);
  EXPECT_EQ(type(Result::kSame, {D::kBool, D::kInt64}), D::kInt64);
  EXPECT_EQ(type(Result::kSame, {D::kInt64, D::kFloat32}), D::kFloat32);
  EXPECT_EQ(type(Result::kSame, {D::kFloat64}), D::kFloat32);
  EXPECT_EQ(type(Result::kOperand, {D::kUInt8, D::kUInt8}), D::kUInt8);
  EXPECT_EQ(type(Result::kOperand, {D::kBool, D::kBool}), D::kBool);
  EXPECT_EQ(type(Result::kOperand, {D::kUInt8, D::kInt32}), D::kInt32);
  EXPECT_EQ(type(Result::kFloat, {D::kInt32}), D::kFloat32);
}

}  // namespace
}  // namespace tpack
