#include "core/expression_parser.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::string syntax_complaint(const std::string& text) {
  try {
    Expression::parse(text, {std::make_shared<const std::string>("a.yaml"), 1, 1});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ExpressionParser, points_at_the_first_thing_that_does_not_fit) {
  EXPECT_EQ(syntax_complaint("1 + * 2"), "a.yaml:1:5: expression '1 + * 2': expected a value, found '*'");
  EXPECT_EQ(syntax_complaint("(1 + 2"), "a.yaml:1:7: expression '(1 + 2': expected ')', found the end");
  EXPECT_EQ(syntax_complaint("1 2"), "a.yaml:1:3: expression '1 2': expected an operator, found '2'");
  EXPECT_EQ(syntax_complaint(""), "a.yaml:1:1: expression '': expected a value, found the end");
  EXPECT_EQ(syntax_complaint("1 if 2"), "a.yaml:1:7: expression '1 if 2': expected 'else', found the end");
  EXPECT_EQ(syntax_complaint("1 + or"), "a.yaml:1:5: expression '1 + or': expected a value, found 'or'");
  EXPECT_EQ(syntax_complaint("'a"), "a.yaml:1:1: expression ''a': this string has no closing '");
  EXPECT_EQ(syntax_complaint("a..b"), "a.yaml:1:1: expression 'a..b': invalid name 'a..b'");
  EXPECT_EQ(syntax_complaint("3x"), "a.yaml:1:1: expression '3x': invalid number '3x'");
}

TEST(ExpressionParser, counts_columns_in_characters) {
  EXPECT_EQ(syntax_complaint("'\xc3\xa4' ?"), "a.yaml:1:5: expression ''\xc3\xa4' ?': unknown operator '?'");
}

TEST(ExpressionParser, knows_what_other_languages_write) {
  EXPECT_EQ(syntax_complaint("a = 1"),
            "a.yaml:1:3: expression 'a = 1': unknown operator '='; use '==' to compare");
  EXPECT_EQ(syntax_complaint("a && b"),
            "a.yaml:1:3: expression 'a && b': unknown operator '&'; write 'and', 'or', 'not'");
  EXPECT_EQ(syntax_complaint("\"a\""),
            "a.yaml:1:1: expression '\"a\"': unknown operator '\"'; write strings in single quotes");
  EXPECT_EQ(syntax_complaint("a ^ 2"), "a.yaml:1:3: expression 'a ^ 2': unknown operator '^'; write x ** y");
}

TEST(ExpressionParser, checks_calls) {
  EXPECT_EQ(syntax_complaint("sine(4)"),
            "a.yaml:1:1: expression 'sine(4)': unknown function 'sine'; known: " +
                ExpressionGrammar().function_names());
  EXPECT_EQ(syntax_complaint("pow(2)"), "a.yaml:1:1: expression 'pow(2)': 'pow' takes two values, found 1");
  EXPECT_EQ(syntax_complaint("int(1, 2)"),
            "a.yaml:1:1: expression 'int(1, 2)': 'int' takes one value, found 2");
  EXPECT_EQ(syntax_complaint("clip(1)"),
            "a.yaml:1:1: expression 'clip(1)': 'clip' takes three values, found 1");
  EXPECT_EQ(syntax_complaint("max()"),
            "a.yaml:1:1: expression 'max()': 'max' takes at least one value, found 0");
  EXPECT_EQ(syntax_complaint("max(1 2)"),
            "a.yaml:1:7: expression 'max(1 2)': expected ',' or ')', found '2'");
}

ExpressionNode::Ptr parsed(const std::string& text, const ExpressionGrammar& grammar) {
  std::vector<Expression::Name> names;
  return parse_expression(text, {std::make_shared<const std::string>("a.yaml"), 1, 1}, names, grammar);
}

TEST(ExpressionParser, reads_subscripts_where_the_grammar_has_them) {
  const ExpressionGrammar grammar{.has_subscripts = true};
  const auto node = parsed("x[2, :-1, 3:]", grammar);
  ASSERT_EQ(node->kind, ExpressionNode::Kind::kSubscript);
  ASSERT_EQ(node->ranges.size(), 3U);
  EXPECT_TRUE(node->ranges[0].is_item);
  EXPECT_EQ(node->ranges[0].begin, 2);
  EXPECT_FALSE(node->ranges[1].is_item);
  EXPECT_EQ(node->ranges[1].begin, std::nullopt);
  EXPECT_EQ(node->ranges[1].end, -1);
  EXPECT_EQ(node->ranges[2].begin, 3);
  EXPECT_EQ(node->ranges[2].end, std::nullopt);
  EXPECT_EQ(parsed("(x + 1)[0][1]", grammar)->parts[0]->kind, ExpressionNode::Kind::kSubscript);
  EXPECT_EQ(parsed("x[0] ** 2", grammar)->text, "**") << "a subscript binds more than a power";
  EXPECT_EQ(syntax_complaint("x[0]"), "a.yaml:1:2: expression 'x[0]': unknown operator '['");
  for (const char* text : {"x[]", "x[0", "x[0:1:2]", "x[y]", "x[1.5]", "x[-]", "[0]"})
    EXPECT_THROW(parsed(text, grammar), ConfigError) << text;
}

TEST(ExpressionParser, knows_the_functions_of_the_grammar) {
  const ExpressionGrammar grammar{.functions = {{"sum"}, {"concat", true}}};
  EXPECT_EQ(parsed("sum(1)", grammar)->operation, nullptr);
  EXPECT_EQ(parsed("concat(1, 2, 3)", grammar)->parts.size(), 3U);
  for (const char* text : {"sum()", "sum(1, 2)", "concat()"})
    EXPECT_THROW(parsed(text, grammar), ConfigError) << text;
  EXPECT_THROW(Expression::parse("sum(1)"), ConfigError);
}

TEST(ExpressionParser, bounds_depth_and_length) {
  EXPECT_EQ(syntax_complaint(std::string(64, '(') + "1" + std::string(64, ')')), "no error");
  EXPECT_NE(syntax_complaint(std::string(65, '(') + "1" + std::string(65, ')'))
                .find("nested deeper than 64 levels"),
            std::string::npos);
  EXPECT_NE(syntax_complaint(std::string(900, '-') + "1").find("nested deeper"), std::string::npos);
  EXPECT_EQ(syntax_complaint(std::string(1001, ' ')),
            "a.yaml:1:1: the expression has 1001 bytes; at most 1000 are supported");
  std::string power = "1";
  while (power.size() < 990) power += "**1";
  EXPECT_NE(syntax_complaint(power).find("nested deeper"), std::string::npos);
  std::string sum = "1";
  while (sum.size() < 990) sum += "+1";
  EXPECT_EQ(syntax_complaint(sum), "no error");
}

}  // namespace
}  // namespace tpack
