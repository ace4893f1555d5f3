#include "core/functions.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/expression.h"

namespace tpack::pointwise {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

TEST(Operations, have_unique_names) {
  for (const Operation& one : operations()) {
    EXPECT_EQ(&operation(one.id), &one);
    for (const Operation& other : operations())
      EXPECT_TRUE(&one == &other || std::string(one.name) != other.name) << one.name;
  }
}

TEST(Operations, are_functions_of_configs) {
  const std::vector<double> numbers = {-3.5, -2, -0.5, 0, 0.25, 1, 2.5, 30};
  int compared = 0;
  for (const Operation& one : operations()) {
    if (!one.is_called()) continue;
    std::string call = std::string(one.name) + "(a";
    for (size_t i = 1; i < one.arity; ++i) call += i == 1 ? ", b" : ", c";
    const Expression expression = Expression::parse(call + ")");
    for (const double a : numbers) {
      for (const double b : numbers) {
        const double value = one.of(a, b, 2);
        if (!std::isfinite(value)) continue;
        const ConfigNode found = expression.evaluate(MapScope(ConfigNode{{"a", a}, {"b", b}, {"c", 2.0}}));
        const bool is_bool = found.kind() == ConfigNode::Kind::kBool;
        EXPECT_EQ(is_bool, one.result == Result::kBool) << one.name;
        EXPECT_EQ(is_bool ? static_cast<double>(found.as_bool()) : found.as_double(), value)
            << one.name << " of " << a << " and " << b;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 1000);
}

TEST(Operators, divide_as_numpy_does) {
  const auto value = [](const char* sign, double a, double b) { return operator_of(sign).of(a, b, 0); };
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

TEST(Operators, compare_nan_with_nothing) {
  for (const char* sign : {"==", "<", "<=", ">", ">="})
    EXPECT_EQ(operator_of(sign).of(kNoNumber, kNoNumber, 0), 0);
  EXPECT_EQ(operator_of("!=").of(kNoNumber, kNoNumber, 0), 1);
}

TEST(Operators, combine_what_is_not_zero) {
  const auto value = [](const char* sign, double a, double b) { return operator_of(sign).of(a, b, 0); };
  for (const double a : {0.0, 2.5, kNoNumber}) {
    EXPECT_EQ(value("not", a, 0), a == 0);
    for (const double b : {0.0, -1.0, kNoNumber}) {
      EXPECT_EQ(value("and", a, b), a != 0 && b != 0);
      EXPECT_EQ(value("or", a, b), a != 0 || b != 0);
    }
  }
}

}  // namespace
}  // namespace tpack::pointwise
