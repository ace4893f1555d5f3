#include "dataflow/sample_functions.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "graph/pointwise.h"

namespace tpack {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

bool is_same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-14 * std::abs(a);
}

/// A formula means the same in the data and in the model.
TEST(SampleFunctions, are_those_of_the_graph) {
  const std::vector<double> numbers = {-kInfinite, -3.5, -2, -0.5, 0, 0.25, 1, 2.5, 30, kInfinite, kNoNumber};
  int called = 0;
  for (const pointwise::Fn fn : pointwise::functions()) {
    const SampleFunction* function = sample_function(pointwise::name_of(fn));
    if (function == nullptr) continue;
    ++called;
    ASSERT_EQ(function->arity, pointwise::arity(fn)) << function->name;
    for (const double a : numbers) {
      for (const double b : numbers)
        EXPECT_TRUE(is_same(function->of(a, b, 0), pointwise::evaluate<double>(fn, a, b, 0)))
            << function->name << " of " << a << " and " << b;
    }
    EXPECT_EQ(function->type == ResultType::kBool, pointwise::gives_bool(fn)) << function->name;
  }
  EXPECT_GE(called, 20);
}

TEST(SampleFunctions, have_every_name_that_a_layer_has) {
  for (const pointwise::Fn fn : pointwise::functions()) {
    const bool is_called =
        fn == pointwise::Fn::kMax || fn == pointwise::Fn::kMin || fn == pointwise::Fn::kPow;
    if (fn == pointwise::Fn::kNeg || !(is_called || pointwise::arity(fn) == 1)) continue;
    EXPECT_NE(sample_function(pointwise::name_of(fn)), nullptr) << pointwise::name_of(fn);
  }
}

TEST(SampleFunctions, divide_as_numpy_does) {
  const auto value = [](const char* sign, double a, double b) { return sample_operator(sign)->of(a, b, 0); };
  EXPECT_EQ(value("/", 1, 0), kInfinite);
  EXPECT_EQ(value("/", -1, 0), -kInfinite);
  EXPECT_TRUE(std::isnan(value("/", 0, 0)));
  EXPECT_EQ(value("//", 1, 0), kInfinite);
  EXPECT_TRUE(std::isnan(value("%", 1, 0)));
  EXPECT_EQ(value("//", -7, 2), -4);
  EXPECT_EQ(value("%", -7, 2), 1);
  EXPECT_EQ(value("%", 7, -2), -1);
  EXPECT_EQ(value("//", 1, 0.1), 9);
  EXPECT_EQ(value("%", 6, -3), 0);
}

TEST(SampleFunctions, compare_nan_with_nothing) {
  for (const char* sign : {"==", "<", "<=", ">", ">="})
    EXPECT_EQ(sample_operator(sign)->of(kNoNumber, kNoNumber, 0), 0);
  EXPECT_EQ(sample_operator("!=")->of(kNoNumber, kNoNumber, 0), 1);
}

TEST(SampleReductions, pass_nan_on) {
  const std::vector<double> x = {1, kNoNumber, 3};
  for (const char* name : {"max", "min", "mean", "sum", "norm"})
    EXPECT_TRUE(std::isnan(sample_reduction(name)->of(x))) << name;
  EXPECT_EQ(sample_reduction("argmax")->of(x), 1) << "as numpy.argmax";
  EXPECT_EQ(sample_reduction("argmax")->of(std::vector<double>{2, 5, 5}), 1) << "the first of the largest";
}

TEST(ResultTypes, keep_integers_until_a_float_comes) {
  using D = DType;
  const auto type = [](ResultType result, const std::vector<D>& operands) {
    return result_type(result, operands);
  };
  EXPECT_EQ(type(ResultType::kNumber, {D::kUInt8, D::kUInt8}), D::kInt32);
  EXPECT_EQ(type(ResultType::kNumber, {D::kBool, D::kInt64}), D::kInt64);
  EXPECT_EQ(type(ResultType::kNumber, {D::kInt64, D::kFloat32}), D::kFloat32);
  EXPECT_EQ(type(ResultType::kNumber, {D::kFloat64}), D::kFloat32);
  EXPECT_EQ(type(ResultType::kSame, {D::kUInt8, D::kUInt8}), D::kUInt8);
  EXPECT_EQ(type(ResultType::kSame, {D::kBool, D::kBool}), D::kBool);
  EXPECT_EQ(type(ResultType::kSame, {D::kUInt8, D::kInt32}), D::kInt32);
  EXPECT_EQ(type(ResultType::kFloat, {D::kInt32}), D::kFloat32);
}

}  // namespace
}  // namespace tpack
