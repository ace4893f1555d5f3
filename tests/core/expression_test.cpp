#include "core/expression.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "core/position_at.h"

namespace tpack {
namespace {

const MapScope& names() {
  static const MapScope scope(ConfigNode{{"n", 3},
                                         {"width", 64},
                                         {"rate", 0.5},
                                         {"name", "net"},
                                         {"none", {}},
                                         {"list", ConfigNode::list({1, 2})}});
  return scope;
}

ConfigNode value(const std::string& text) { return Expression::parse(text).evaluate(names()); }
std::string json(const std::string& text) { return to_json(value(text)); }

std::string evaluation_complaint(const std::string& text) {
  try {
    Expression::parse(text, at(2, 10)).evaluate(names());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Expression, computes_with_the_usual_precedence) {
  EXPECT_EQ(json("1 + 2 * 3"), "7");
  EXPECT_EQ(json("(1 + 2) * 3"), "9");
  EXPECT_EQ(json("10 - 4 - 3"), "3");
  EXPECT_EQ(json("-n * 2"), "-6");
  EXPECT_EQ(json("--2"), "2");
  EXPECT_EQ(json("2 * -3"), "-6");
  EXPECT_EQ(json("6 * n + 2"), "20");
}

TEST(Expression, divides_as_python_does) {
  EXPECT_EQ(json("7 // 2"), "3");
  EXPECT_EQ(json("-7 // 2"), "-4");
  EXPECT_EQ(json("7 // -2"), "-4");
  EXPECT_EQ(json("-7 % 3"), "2");
  EXPECT_EQ(json("7 % -3"), "-2");
  EXPECT_EQ(json("6 % -3"), "0");
  EXPECT_EQ(json("-7.5 // 2"), "-4");
  EXPECT_EQ(json("-7.5 % 2"), "0.5");
  EXPECT_EQ(json("1 // 0.1"), "9");
}

TEST(Expression, raises_to_powers_as_python_does) {
  EXPECT_EQ(json("2 ** 10"), "1024");
  EXPECT_EQ(json("2 ** 3 ** 2"), "512");
  EXPECT_EQ(json("-2 ** 2"), "-4");
  EXPECT_EQ(json("2 ** -1"), "0.5");
  EXPECT_EQ(value("2.0 ** 2").kind(), ConfigNode::Kind::kFloat);
  EXPECT_EQ(json("(-2) ** 63"), "-9223372036854775808");
  EXPECT_EQ(json("(-1) ** 1000000000000 + 0 ** 0"), "2");
  EXPECT_EQ(evaluation_complaint("2 ** 63"), "a.yaml:2:12: the result does not fit into a 64-bit integer");
  EXPECT_EQ(evaluation_complaint("(-8) ** 0.5"), "a.yaml:2:15: '**' of -8 and 0.5 is not a finite number");
}

TEST(Expression, keeps_integers_integers_but_for_the_slash) {
  EXPECT_EQ(value("6 / 3").kind(), ConfigNode::Kind::kFloat);
  EXPECT_EQ(value("6 // 3").kind(), ConfigNode::Kind::kInt);
  EXPECT_EQ(value("2 * 1.0").kind(), ConfigNode::Kind::kFloat);
  EXPECT_EQ(json("1 / 128"), "0.0078125");
}

TEST(Expression, compares_and_chains) {
  EXPECT_EQ(json("1 < 2"), "true");
  EXPECT_EQ(json("1 == 1.0"), "true");
  EXPECT_EQ(json("1 < n <= 3"), "true");
  EXPECT_EQ(json("1 < n < 3"), "false");
  EXPECT_EQ(json("name == 'net'"), "true");
  EXPECT_EQ(json("'a' < 'b'"), "true");
  EXPECT_EQ(json("name != 3"), "true");
  EXPECT_EQ(json("not n == 3"), "false");
}

TEST(Expression, and_or_give_an_operand_and_stop_early) {
  EXPECT_EQ(json("0 or 5"), "5");
  EXPECT_EQ(json("2 and 5"), "5");
  EXPECT_EQ(json("0 and 1 / 0"), "0");
  EXPECT_EQ(json("1 or 1 / 0"), "1");
  EXPECT_EQ(json("'' or 'x'"), "\"x\"");
  EXPECT_EQ(json("not 0 and not false"), "true");
  EXPECT_EQ(json("none or list"), "[1, 2]");
}

TEST(Expression, chooses_and_evaluates_one_branch_only) {
  EXPECT_EQ(json("1 if n > 2 else 1 / 0"), "1");
  EXPECT_EQ(json("1 if n > 5 else 2 if n > 2 else 3"), "2");
  EXPECT_EQ(json("width * 4 if n > 2 else width"), "256");
}

TEST(Expression, calls_its_functions) {
  EXPECT_EQ(json("min(4, 2, 3)"), "2");
  EXPECT_EQ(json("max(n, 2.5)"), "3");
  EXPECT_EQ(json("int(2.9) + int(-2.9)"), "0");
  EXPECT_EQ(json("round(2.5)"), "2");
  EXPECT_EQ(json("round(3.5)"), "4");
  EXPECT_EQ(value("float(2)").kind(), ConfigNode::Kind::kFloat);
  EXPECT_EQ(value("round(2.4)").kind(), ConfigNode::Kind::kInt);
}

TEST(Expression, has_functions_of_real_numbers) {
  EXPECT_EQ(value("pow(2, 10)").as_double(), 1024);
  EXPECT_EQ(value("pow(4, -0.5)").as_double(), 0.5);
  EXPECT_EQ(value("sqrt(2.25)").as_double(), 1.5);
  EXPECT_EQ(value("cos(0)").as_double(), 1);
  EXPECT_NEAR(value("cos(3.141592653589793 / 3)").as_double(), 0.5, 1e-15);
  EXPECT_NEAR(value("exp(1)").as_double(), 2.718281828459045, 1e-15);
  EXPECT_NEAR(value("log(100)").as_double(), 4.605170185988092, 1e-14);
}

TEST(Expression, joins_texts) { EXPECT_EQ(json("name + '-' + 'x'"), "\"net-x\""); }

TEST(Expression, reads_the_environment_typed) {
  ASSERT_EQ(setenv("TPACK_TEST_LR", "0.25", 1), 0);
  ASSERT_EQ(unsetenv("TPACK_TEST_NONE"), 0);
  EXPECT_EQ(json("env.TPACK_TEST_LR * 2"), "0.5");
  EXPECT_EQ(json("env.TPACK_TEST_LR or 0.1"), "0.25");
  EXPECT_EQ(json("env.TPACK_TEST_NONE or 0.1"), "0.1");
  EXPECT_EQ(json("env.TPACK_TEST_NONE or env.TPACK_TEST_NONE or 7"), "7");
  EXPECT_EQ(evaluation_complaint("1 + env.TPACK_TEST_NONE"),
            "a.yaml:2:14: environment variable 'TPACK_TEST_NONE' is not set; set it, or write "
            "'env.TPACK_TEST_NONE or DEFAULT'");
  EXPECT_NE(evaluation_complaint("0 or env.TPACK_TEST_NONE"), "no error");
}

TEST(Expression, knows_the_name_of_an_environment_variable_without_env) {
  ASSERT_EQ(setenv("TPACK_TEST_LR", "0.25", 1), 0);
  EXPECT_NE(evaluation_complaint("TPACK_TEST_LR * 2")
                .find("unknown name 'TPACK_TEST_LR'; did you mean 'env.TPACK_TEST_LR'?"),
            std::string::npos)
      << evaluation_complaint("TPACK_TEST_LR * 2");
}

TEST(EnvironmentHint, is_for_the_ways_of_shells) {
  for (const char* text : {"$LR", "${LR}", "a/${LR}/b", "$LR/b", "${LR:-0.1}", "$env.LR"})
    EXPECT_EQ(environment_hint(text), "; write $(env.LR) for the environment variable") << text;
  for (const char* text : {"", "$", "5 $", "$(LR)", "LR", "${}"})
    EXPECT_EQ(environment_hint(text), "") << text;
}

TEST(Expression, does_not_let_or_hide_a_misspelt_name) {
  EXPECT_EQ(evaluation_complaint("widht or 3"), "a.yaml:2:10: unknown name 'widht'; did you mean 'width'?");
  EXPECT_EQ(evaluation_complaint("2 * True"), "a.yaml:2:14: unknown name 'True'; did you mean 'true'?");
}

TEST(Expression, names_the_operator_with_operands_that_do_not_fit) {
  EXPECT_EQ(evaluation_complaint("1 + 'a'"),
            "a.yaml:2:12: '+' needs two numbers or two strings, found the number 1 and the string 'a'");
  EXPECT_EQ(evaluation_complaint("n * true"),
            "a.yaml:2:12: '*' needs two numbers, found the number 3 and 'true'");
  EXPECT_EQ(evaluation_complaint("1 < 'a'"),
            "a.yaml:2:12: '<' compares two numbers or two strings, found the number 1 and the string 'a'");
  EXPECT_EQ(evaluation_complaint("-name"), "a.yaml:2:10: '-' needs a number, found the string 'net'");
  EXPECT_EQ(evaluation_complaint("min(1, 'a')"), "a.yaml:2:10: 'min' needs numbers, found the string 'a'");
}

TEST(Expression, tells_what_fails_in_each_evaluation) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      Expression::parse(text).check();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  for (const char* bad :
       {"epoch % 0", "epoch / (2 - 2)", "1 + -(epoch // 0.0)", "epoch > cost / 0", "not epoch % 0",
        "epoch % 0 == 0 and step > 3", "(epoch % 0 or 1)", "max(epoch, 1 / 0)", "1 if epoch % 0 == 0 else 2",
        "epoch if 1 / 0 > 1 else 2", "1 % 0 if 2 > 1 else epoch"})
    EXPECT_EQ(complaint(bad), "division by zero") << bad;
  for (const char* good : {"epoch % 2", "epoch % step", "epoch > 3 and 1 % 0 > 1", "epoch > 3 or 1 % 0 > 1",
                           "1 % 0 if epoch else 2", "epoch if 1 > 2 else 1 + step", "1 < step < 1 / 0",
                           "0 and 1 / 0", "0 % epoch", "env.TPACK_UNSET or 1", "env.TPACK_UNSET or epoch"})
    EXPECT_EQ(complaint(good), "") << good;
  EXPECT_EQ(complaint("epoch * env.TPACK_UNSET"),
            "environment variable 'TPACK_UNSET' is not set; set it, or write 'env.TPACK_UNSET or DEFAULT'");
  EXPECT_EQ(complaint("epoch * ('a' - 1)"), "'-' needs two numbers, found the string 'a' and the number 1");
}

TEST(Expression, says_what_it_gives_if_its_names_are_numbers) {
  using Result = Expression::Result;
  const auto result = [](const std::string& text) { return Expression::parse(text).result_of_numbers(); };
  for (const char* number : {"2", "old", "-old", "old * 0.9", "min(old, 1)", "1 if epoch > 3 else old",
                             "epoch and old", "env.A * 2", "1 + old"})
    EXPECT_EQ(result(number), Result::kNumber) << number;
  for (const char* truth : {"true", "epoch > 3", "not epoch", "epoch > 3 and step < 5", "1 < epoch < 3"})
    EXPECT_EQ(result(truth), Result::kTruth) << truth;
  for (const char* text : {"'a'", "'a' + 'b'"}) EXPECT_EQ(result(text), Result::kText) << text;
  for (const char* open : {"env.A", "env.A + 'b'", "epoch > 3 or old", "1 if epoch > 3 else true"})
    EXPECT_EQ(result(open), std::nullopt) << open;
  const ExpressionGrammar with_mean = {.functions = {{"mean"}}};
  EXPECT_EQ(Expression::parse("mean(old)", {}, with_mean).result_of_numbers(), std::nullopt);
}

TEST(Expression, rejects_division_by_zero_and_overflow) {
  EXPECT_EQ(evaluation_complaint("1 / 0"), "a.yaml:2:12: division by zero");
  EXPECT_EQ(evaluation_complaint("1 // 0"), "a.yaml:2:12: division by zero");
  EXPECT_EQ(evaluation_complaint("1.5 % 0"), "a.yaml:2:14: division by zero");
  const std::string overflow = "the result does not fit into a 64-bit integer";
  EXPECT_EQ(evaluation_complaint("9223372036854775807 + 1"), "a.yaml:2:30: " + overflow);
  EXPECT_EQ(evaluation_complaint("(-9223372036854775807 - 1) // -1"), "a.yaml:2:37: " + overflow);
  EXPECT_EQ(json("(-9223372036854775807 - 1) % -1"), "0");
  EXPECT_EQ(evaluation_complaint("int(1e30)"),
            "a.yaml:2:10: 'int' of 1e+30 does not fit into a 64-bit integer");
}

TEST(Expression, says_which_names_it_mentions) {
  const Expression parsed = Expression::parse("vars.a + n * env.X or n");
  ASSERT_EQ(parsed.names().size(), 4U);
  EXPECT_EQ(parsed.names()[0].name, "vars.a");
  EXPECT_EQ(parsed.names()[1].name, "n");
  EXPECT_EQ(parsed.names()[1].offset, 9U);
  EXPECT_EQ(parsed.names()[2].name, "env.X");
}

TEST(MapScope, asks_the_outer_scope_last) {
  const MapScope inner(ConfigNode{{"n", 5}}, &names());
  EXPECT_EQ(to_json(Expression::parse("n + width").evaluate(inner)), "69");
}

}  // namespace
}  // namespace tpack
