#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/cost_function.h"

namespace tpack {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNames = {"a", "b", "count", "net/out", "wide"};
/// One value per sample in two shapes, one number, and what an expression cannot use.
const std::vector<Tensor> kValues = {Tensor::of<double>({3, 1}, {1, -2, 4}),
                                     Tensor::of<double>({3}, {0.5, 3, -1}), Tensor::of<int32_t>({}, {6}),
                                     Tensor::of<double>({3}, {7, 8, 9}),
                                     Tensor::of<double>({3, 2}, {1, 2, 3, 4, 5, 6})};

std::string quoted(const std::string& expression) { return "Expression: \"" + expression + "\""; }

double value(const std::string& expression) {
  return testkit::evaluate(function_of_outputs<Cost>(quoted(expression), kNames), kValues, DType::kFloat64)[0]
      .at(0);
}

double mean(double a, double b, double c) { return (a + b + c) / 3; }

TEST(ExpressionCost, is_the_mean_over_samples) {
  EXPECT_DOUBLE_EQ(value("a"), 1);
  EXPECT_DOUBLE_EQ(value("0.5 * a + max(b, 0)"), mean(1, 2, 2));
  EXPECT_DOUBLE_EQ(value("-a / (b - 1) * 2"), mean(4, 2, 4));
  EXPECT_DOUBLE_EQ(value("max(a, b, 2) + min(a, b)"), mean(2.5, 1, 3));
  EXPECT_DOUBLE_EQ(value("abs(a) + square(b)"), mean(1.25, 11, 5));
  EXPECT_DOUBLE_EQ(value("exp(a) + tanh(b)"), mean(std::exp(1) + std::tanh(0.5), std::exp(-2) + std::tanh(3),
                                                   std::exp(4) + std::tanh(-1)));
  EXPECT_DOUBLE_EQ(value("log(square(a)) + sqrt(abs(a)) + sigmoid(0 * a)"),
                   mean(0 + 1 + 0.5, std::log(4) + std::sqrt(2) + 0.5, std::log(16) + 2 + 0.5));
  EXPECT_DOUBLE_EQ(value("a * 1 + 2 * 3 - sqrt(16)"), 3) << "numbers are computed first";
}

TEST(ExpressionCost, may_be_of_numbers_alone) {
  EXPECT_DOUBLE_EQ(value("count / 4"), 1.5);
  EXPECT_DOUBLE_EQ(value("count + a"), 7);
}

TEST(ExpressionCost, chooses_by_sample) {
  EXPECT_DOUBLE_EQ(value("a if a > b else 10"), mean(1, 10, 4));
  EXPECT_DOUBLE_EQ(value("a < b"), mean(0, 1, 0));
  EXPECT_DOUBLE_EQ(value("0 <= a <= 1"), mean(1, 0, 0));
  EXPECT_DOUBLE_EQ(value("a >= 1 and b != -1"), mean(1, 0, 0));
  EXPECT_DOUBLE_EQ(value("a == 4 or b > 2"), mean(0, 1, 1));
  EXPECT_DOUBLE_EQ(value("not a > 0"), mean(0, 1, 0));
  EXPECT_DOUBLE_EQ(value("a if 1 < 2 else b"), 1);
}

TEST(ExpressionCost, finds_names_in_quotes) { EXPECT_DOUBLE_EQ(value("2 * 'net/out'"), 16); }

TEST(ExpressionCost, has_the_gradient_of_its_value) {
  const auto function = function_of_outputs<Cost>(
      quoted("max(a * b, a) / (2 + exp(-b)) + (square(b) if a > 0 else tanh(a) * 3) + log(5 + a)"), kNames);
  EXPECT_TRUE(testkit::check_gradients(function, {kValues[0], kValues[1]}).ok);
  EXPECT_TRUE(testkit::check_second_gradients(function, {kValues[0], kValues[1]}, {.tolerance = 1e-5}).ok);
}

std::string complaint(const std::string& expression) {
  return complaint_of<Cost>(quoted(expression), kNames, kValues);
}

TEST(ExpressionCost, points_at_mistakes) {
  EXPECT_EQ(complaint("a + cuont"), "cost.yaml:1:18: unknown layer or input 'cuont'; did you mean 'count'?");
  EXPECT_EQ(complaint("a + 'net/aut'"),
            "cost.yaml:1:18: unknown layer or input 'net/aut'; did you mean 'net/out'?");
  EXPECT_EQ(
      complaint("a + wide"),
      "cost.yaml:1:18: output wide has shape [3, 2], but an expression needs one value per sample, or one "
      "number");
  EXPECT_EQ(
      complaint("a + sqr(b)"),
      "cost.yaml:1:18: 'expression' of cost Expression: expression 'a + sqr(b)': unknown function 'sqr'; "
      "known: " +
          ExpressionGrammar().function_names());
  EXPECT_EQ(complaint("a + * b"),
            "cost.yaml:1:18: 'expression' of cost Expression: expression 'a + * b': expected a value, found "
            "'*'");
  EXPECT_EQ(complaint("a + 1 / 0"), "cost.yaml:1:20: the expression has no finite value here");
  EXPECT_THAT(complaint("1 + 2"), HasSubstr("cost Expression: '1 + 2' is not a layer or input"));
  EXPECT_THAT(complaint_of<Cost>("Expression: 3", kNames, kValues), HasSubstr("'3' is not a layer or input"));
  EXPECT_THAT(complaint_of<Cost>("Expression: [a]", kNames, kValues),
              HasSubstr("expected an expression, such as"));
  EXPECT_THAT(complaint_of<Cost>("Expression: {weight: 2}", kNames, kValues),
              HasSubstr("'expression' is missing"));
}

TEST(ExpressionCost, rejects_batches_of_different_sizes) {
  EXPECT_EQ(complaint_of<Cost>(quoted("a + b"), kNames, {kValues[0], Tensor::of<double>({2}, {1, 2})}),
            "cost.yaml:1:18: output b has 2 values, but a has 3");
}

TEST(ExpressionCost, has_weights) {
  const auto weighted = [](const std::string& more) {
    const auto function = function_of_outputs<Cost>("Expression: {expression: a, " + more + "}", kNames);
    return testkit::evaluate(function, kValues, DType::kFloat64)[0].at(0);
  };
  EXPECT_DOUBLE_EQ(weighted("weight: -2"), -2);
  EXPECT_DOUBLE_EQ(weighted("sample_weights: b"), mean(0.5, -6, -4));
  EXPECT_EQ(complaint_of<Cost>("Expression: {expression: count, sample_weights: b}", kNames, kValues),
            "cost.yaml:1:49: 'sample_weights': this term is one number, not a mean over samples");
}

}  // namespace
}  // namespace tpack
