#include "model/tensor_formula.h"

#include <gmock/gmock-matchers.h>

#include "core/functions.h"
#include "layers/layer_cases.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing::HasSubstr;

const Tensor kRow = Tensor::of<double>({3}, {-1.5, 0, 2});
const Tensor kColumn = Tensor::of<double>({2, 1}, {0.5, -2});
const Tensor kNumbers = Tensor::of<int32_t>({}, {7});

std::string item(const std::string& expression) { return "- Elementwise: \"" + expression + "\""; }

std::vector<double> values(const std::string& expression) {
  const Tensor y =
      testkit::evaluate(function_of(item(expression)), {kRow, kColumn, kNumbers}, DType::kFloat64)[0];
  EXPECT_EQ(y.dtype(), DType::kFloat64);
  std::vector<double> all;
  for (int64_t i = 0; i < y.elements(); ++i) all.push_back(y.at(i));
  return all;
}

using Values = std::vector<double>;

TEST(TensorFormula, computes_element_by_element) {
  EXPECT_EQ(values("x"), (Values{-1.5, 0, 2}));
  EXPECT_EQ(values("-x / 2 + 3 * 2"), (Values{6.75, 6, 5}));
  EXPECT_EQ(values("x // 2"), (Values{-1, 0, 1}));
  EXPECT_EQ(values("x % 2"), (Values{0.5, 0, 0}));
  EXPECT_EQ(values("max(x, -1, 1) + min(abs(x), 1)"), (Values{2, 1, 3}));
  EXPECT_EQ(values("floor(x) + square(x)"), (Values{0.25, 0, 6}));
  EXPECT_EQ(values("x ** 2 - -x ** 2"), (Values{4.5, 0, 8}));
  EXPECT_EQ(values("x2 + 1"), (Values{8})) << "integers are converted";
}

TEST(TensorFormula, has_every_function_of_the_table) {
  for (const pointwise::Operation& one : pointwise::operations()) {
    if (!one.is_called()) continue;
    const std::string more = one.arity == 1 ? ")" : one.arity == 2 ? ", x2)" : ", x2, 7.5)";
    const Values found = values(std::string(one.name) + "(x" + more);
    Values expected;
    for (const double x : {-1.5, 0.0, 2.0}) expected.push_back(one.of(x, 7, 7.5));
    EXPECT_THAT(found, testing::Pointwise(testing::NanSensitiveDoubleNear(1e-12), expected)) << one.name;
  }
}

TEST(TensorFormula, broadcasts_as_numpy_does) {
  EXPECT_EQ(values("x + x1"), (Values{-1, 0.5, 2.5, -3.5, -2, 0}));
  EXPECT_EQ(values("x1 * x2"), (Values{3.5, -14}));
  EXPECT_EQ(values("x if x1 > 0 else 1"), (Values{-1.5, 0, 2, 1, 1, 1}));
}

TEST(TensorFormula, compares_and_chooses) {
  EXPECT_EQ(values("x > 0"), (Values{0, 0, 1}));
  EXPECT_EQ(values("-1.5 <= x < 2"), (Values{1, 1, 0}));
  EXPECT_EQ(values("x != 0 and x <= 2"), (Values{1, 0, 1}));
  EXPECT_EQ(values("x == 0 or x >= 5"), (Values{0, 1, 0}));
  EXPECT_EQ(values("x or 5"), (Values{-1.5, 5, 2}));
  EXPECT_EQ(values("not x"), (Values{0, 1, 0}));
  EXPECT_EQ(values("x if 2 > 1 else x1"), (Values{-1.5, 0, 2})) << "numbers are compared at once";
}

TEST(TensorFormula, knows_layers_around_it_and_names_in_quotes) {
  const auto y = [](const std::string& layers) {
    return testkit::evaluate(function_of(layers), {kRow}, DType::kFloat64)[0].at(2);
  };
  EXPECT_EQ(y("[{Elementwise: {name: twice, expression: 2 * x}}, {Elementwise: x + x0 - 'twice' / twice}]"),
            5);
  EXPECT_EQ(y("[{Elementwise: {name: x, expression: 2 * x}}, {Elementwise: {input: x0, expression: \"x + 3 * "
              "'x'\"}}]"),
            14)
      << "x is the input, 'x' the layer";
  EXPECT_EQ(y("[{Repeat: {count: 1, layers: [{Elementwise: {name: in, expression: x * x0}}]}}, "
              "{Elementwise: \"'repeat_0/0/in' + 1\"}]"),
            5);
}

TEST(TensorFormula, can_be_an_activation) {
  const Tensor y = testkit::evaluate(
      function_of("- FullyConnected: {units: 3, use_bias: false, kernel_initializer: {Constant: {value: 1}}, "
                  "activation: {Elementwise: x * 2}}"),
      {Tensor::of<double>({1, 2}, {1, 2})}, DType::kFloat64)[0];
  EXPECT_EQ(y.at(0), 6);
}

std::string formula_error(const std::string& layers) {
  return error_from([&] {
    testkit::evaluate(function_of(layers), {kRow, kColumn, Tensor::of<double>({2, 2}, {1, 2, 3, 4})},
                      DType::kFloat64);
  });
}

TEST(TensorFormula, points_at_mistakes) {
  EXPECT_EQ(formula_error(item("x + y0")),
            "layers.yaml:1:21: unknown layer or input 'y0'; did you mean 'x0'?");
  EXPECT_EQ(formula_error(item("2 * (x + x2)")),
            "layers.yaml:1:24: shapes [3] and [2, 2] do not broadcast: 2 against 3");
  EXPECT_EQ(formula_error(item("x + sqr(x)")),
            "layers.yaml:1:21: 'expression' of layer Elementwise: expression 'x + sqr(x)': unknown function "
            "'sqr'; known: " +
                ExpressionGrammar().function_names());
  EXPECT_TRUE(says(formula_error(item("x + * 2")), {"layers.yaml:1:21:", "'expression'", "found '*'"}));
  EXPECT_EQ(formula_error(item("x + 1 / 0")), "layers.yaml:1:23: the expression has no finite value here");
  EXPECT_THAT(formula_error(item("1 + 2")), HasSubstr("layer Elementwise: '1 + 2' is not a layer or input"));
  EXPECT_THAT(formula_error("- Elementwise: 3"), HasSubstr("'3' is not a layer or input"));
  EXPECT_THAT(formula_error("- Elementwise: [x]"), HasSubstr("found"));
  EXPECT_THAT(formula_error("- Elementwise"), HasSubstr("'expression' is missing"));
  EXPECT_EQ(formula_error("- Elementwise: {input: [x0, x1], expression: x}"),
            "layers.yaml:1:3: elementwise_0: takes one input, not 2");
  EXPECT_EQ(formula_error("- FullyConnected: {input: x2, units: 3, activation: {Elementwise: x + x0}}"),
            "layers.yaml:1:71: an activation can use only x, not 'x0'; write it as a layer of its own");
}

std::string error_for(const std::string& expression, const std::vector<Tensor>& inputs) {
  return error_from([&] { testkit::evaluate(function_of(item(expression)), inputs, DType::kFloat64); });
}

/// NumPy gives [N, N] for [N, 1] and [N]: each prediction minus each target.
TEST(TensorFormula, rejects_operands_that_mix_samples) {
  const Tensor column = Tensor::of<double>({3, 1}, {1, 2, 3});
  const Tensor row = Tensor::of<double>({3}, {1, 2, 3});
  for (const char* expression : {"x - x1", "square(x1 - x)", "x if x1 > x else 0", "2 * x + (x1 + 1)"})
    EXPECT_TRUE(says(error_for(expression, {column, row}), {"have a batch axis each, but", "add a Reshape"}))
        << expression;
  EXPECT_EQ(error_for("x - x1", {column, column}), "no error");
  EXPECT_EQ(error_for("x - x1", {column, Tensor::of<double>({}, {1})}), "no error");
  EXPECT_EQ(error_for("x - x1", {Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}), row}), "no error")
      << "one number for each feature";
}

}  // namespace
}  // namespace tpack
