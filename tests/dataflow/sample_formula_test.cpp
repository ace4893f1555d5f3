#include "dataflow/sample_formula.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/text.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/sample_functions.h"

namespace tpack {
namespace {

using testing::HasSubstr;

Spec components() {
  return {{"x", {DType::kFloat32, {3}}},
          {"n", {DType::kInt32, {}}},
          {"big", {DType::kInt64, {}}},
          {"precise", {DType::kFloat64, {}}},
          {"image", {DType::kUInt8, {Shape::kUnknown, Shape::kUnknown, 3}}},
          {"species", {DType::kInt32, {}}, false, {"setosa", "virginica"}},
          {"sepal length", {DType::kFloat32, {}}}};
}

SampleExpression expression(const std::string& text) {
  static const auto file = std::make_shared<const std::string>("a.yaml");
  Diagnostics errors;
  Reader reader("'y' of map Compute", {}, errors);
  auto parsed = Codec<SampleExpression>::parse(ConfigNode::string(text, {file, 2, 5}), reader);
  errors.throw_if_any();
  return *parsed;
}

SampleFormula compiled(const std::string& text) { return {expression(text), components(), "map Compute"}; }

class SampleFormulas : public testing::Test {
 protected:
  SampleFormulas() {
    d_.resize(8);
    d_.set_tensor(0, Tensor::of<float>({3}, {0.1F, -2, 5}));
    d_.set_tensor(1, Tensor::scalar<int32_t>(7));
    d_.set_tensor(2, Tensor::scalar<int64_t>(123456789012345));
    d_.set_tensor(3, Tensor::scalar<double>(0.1));
    d_.set_tensor(4, Tensor::of<uint8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6}));
    d_.set_tensor(5, Tensor::scalar<int32_t>(1));
    d_.set_tensor(6, Tensor::scalar<float>(4.5));
  }
  /// The value, and its type and shape.
  std::string value(const std::string& text) {
    compiled(text).store(d_, 7);
    const Tensor& y = d_.tensor(7);
    std::string all = y.spec().str() + ":";
    for (int64_t i = 0; i < y.elements(); ++i) all += " " + csv_field(y.at(i));
    return all;
  }
  std::string failure(const std::string& text) {
    return error_of([&] { value(text); });
  }

  Datapoint d_;
};

TEST_F(SampleFormulas, integers_are_exact) {
  EXPECT_EQ(value("big + 1"), "int64 []: 123456789012346");
  EXPECT_EQ(value("big + 1 == 123456789012346"), "bool []: 1");
  EXPECT_EQ(value("big % 1000"), "int64 []: 345");
  EXPECT_EQ(value("n // 2"), "int32 []: 3");
  EXPECT_THAT(failure("n // 0"), HasSubstr("inf is not a number of int32; write float(...) of an operand"));
  EXPECT_THAT(failure("n * 1000000000"), HasSubstr("7e+09 is not a number of int32"));
  EXPECT_EQ(value("float(n) // 0"), "float32 []: inf");
  EXPECT_THAT(failure("int(sqrt(-n))"), HasSubstr("nan is not a number of int32"));
}

TEST_F(SampleFormulas, floats_follow_ieee) {
  EXPECT_EQ(value("x / 0"), "float32 [3]: inf -inf inf");
  EXPECT_EQ(value("log(x - 0.1)[0]"), "float32 []: -inf");
  EXPECT_EQ(value("sqrt(x[1])"), "float32 []: nan");
}

TEST_F(SampleFormulas, a_number_is_the_nearest_float_next_to_floats) {
  EXPECT_EQ(value("x == 0.1"), "bool [3]: 1 0 0") << "the float 0.1 is not the double 0.1";
  EXPECT_EQ(value("-x[0] == -0.1"), "bool []: 1");
  EXPECT_EQ(value("precise == 0.1"), "bool []: 1") << "a double";
  EXPECT_EQ(value("n == 7.5"), "bool []: 0");
  EXPECT_EQ(value("x[0] + 0.1 == 0.2"), "bool []: 1");
}

TEST_F(SampleFormulas, takes_components_as_they_are) {
  EXPECT_EQ(value("precise"), "float64 []: 0.1");
  EXPECT_EQ(value("image[0, 1]"), "uint8 [3]: 4 5 6");
  EXPECT_EQ(compiled("x").copied(), 0);
  EXPECT_EQ(compiled("x + 0").copied(), std::nullopt);
  EXPECT_EQ(value("'sepal length' * 2"), "float32 []: 9");
}

TEST_F(SampleFormulas, sizes_may_be_known_with_the_sample_only) {
  EXPECT_EQ(compiled("image / 255").result().str(), "float32 [?, ?, 3]");
  EXPECT_EQ(compiled("mean(image)").result().str(), "float32 []");
  EXPECT_EQ(compiled("image[0, :, 0]").result().str(), "uint8 [?]");
  EXPECT_EQ(compiled("image * x").result().str(), "float32 [?, ?, 3]");
  EXPECT_EQ(value("image[0, :, 0]"), "uint8 [2]: 1 4");
  EXPECT_EQ(value("mean(image)"), "float32 []: 3.5");
  EXPECT_THAT(failure("image[4, 0, 0]"), HasSubstr("axis 0 has 1 elements, and none at 4"));
  EXPECT_THAT(failure("image[0, :, 0] + x"), HasSubstr("shapes [2] and [3] do not broadcast: 2 against 3"));
}

TEST_F(SampleFormulas, knows_the_names_of_classes) {
  EXPECT_EQ(value("species == 'virginica'"), "bool []: 1");
  EXPECT_EQ(value("'setosa' == species"), "bool []: 0");
  EXPECT_EQ(value("species != 0"), "bool []: 1");
  expect_errors([](const std::string& text) { compiled(text); },
                {{"species == 'setsoa'",
                  {"a.yaml:2:16: map Compute: ", "'setsoa' of 'species'", "did you mean 'setosa'?",
                   "it has setosa, virginica"}},
                 {"species > 'setosa'", {"a.yaml:2:15: ", "'setosa' have no order", "use == or !="}},
                 {"n == 'setosa'", {"a.yaml:2:10: ", "'n' (int32 [])", "compare it with a number"}}});
}

TEST_F(SampleFormulas, reductions_of_nothing_have_no_value_or_that_of_nothing) {
  EXPECT_EQ(value("sum(x[2:1])"), "float32 []: 0");
  EXPECT_EQ(value("all(x[2:1] > 0)"), "bool []: 1");
  EXPECT_THAT(failure("mean(x[2:1])"), HasSubstr("'mean' of no elements has no value"));
}

TEST(SampleFormula, points_at_mistakes) {
  expect_errors([](const std::string& text) { compiled(text); },
                {{"x + lenght",
                  {"a.yaml:2:9: map Compute: ", "'lenght'; known: x, n, big", "`columns: {lenght: lenght}`"}},
                 {"2 * (x + specis)", {"a.yaml:2:14: ", "'specis'", "did you mean 'species'?"}},
                 {"x + setosa", {"a.yaml:2:9: ", "'setosa'", "the class of 'species'", "quotes: 'setosa'"}},
                 {"x[3]", {"a.yaml:2:6: map Compute: axis 0 has 3 elements, and none at 3"}},
                 {"x[-4]", {"a.yaml:2:6: ", "none at -4"}},
                 {"x[0, 1]", {"a.yaml:2:6: ", "2 axes for the shape [3]"}},
                 {"x + x[:2]", {"a.yaml:2:7: ", "shapes [3] and [2] do not broadcast"}},
                 {"big + 9007199254740993", {"a.yaml:2:11: ", "up to 2^53"}},
                 {"sqr(x)", {"'y' of map Compute: ", "'sqr(x)': unknown function 'sqr'"}},
                 {"where(x, 1)", {"'where' takes three values, found 2"}},
                 {"x[0:1", {"expected ',' or ']', found the end"}}});
}

TEST(SampleExpression, says_which_components_it_needs) {
  EXPECT_THAT(expression("x[0] + 'sepal length' * sum(n)").components(),
              testing::ElementsAre("x", "sepal length", "n"));
  EXPECT_THAT(expression("species == 'setosa' and 'sepal length' > 2").components(),
              testing::ElementsAre("species", "sepal length"));
}

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
