#include "core/substitute.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "core/position_at.h"

namespace tpack {
namespace {

const MapScope& known_names() {
  static const MapScope scope(ConfigNode{{"n", 3},
                                         {"flag", true},
                                         {"vars.w", 64},
                                         {"vars.minus", -2},
                                         {"vars.name", "net"},
                                         {"list", ConfigNode::list({1})},
                                         {"vars.list", ConfigNode::list({1})}});
  return scope;
}

std::string substituted(const std::string& text, BareNames bare = BareNames::kResolve) {
  return to_json(substitute_text(ConfigNode::string(text, at(3, 5)), known_names(), bare));
}

std::string substitute_complaint(const std::string& text,
                                 ConfigNode::Style style = ConfigNode::Style::kPlain) {
  Diagnostics errors;
  substitute(ConfigNode::list({ConfigNode::string(text, at(3, 5), style)}), known_names(), errors);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Substitute, gives_a_whole_expression_the_type_of_its_value) {
  EXPECT_EQ(substituted("$(n * 2)"), "6");
  EXPECT_EQ(substituted("$(flag)"), "true");
  EXPECT_EQ(substituted("$(list)"), "[1]");
  EXPECT_EQ(substituted("$((n + 1) * 2)"), "8");
}

TEST(Substitute, writes_values_into_the_text_around_them) {
  EXPECT_EQ(substituted("resnet-$(6 * n + 2)-$(vars.name).h5"), "\"resnet-20-net.h5\"");
  EXPECT_EQ(substituted("$(n) "), "\"3 \"");
  EXPECT_EQ(substituted("$('a)b')!"), "\"a)b!\"");
}

TEST(Substitute, walks_the_tree_and_keeps_places_keys_and_other_scalars) {
  Diagnostics errors;
  const ConfigNode tree = ConfigNode::map(
      {{"$(n)", ConfigNode::list({ConfigNode::string("$(n)", at(2, 7)), "plain", 5}), at(2, 1)}}, at(2, 1));
  const ConfigNode out = substitute(tree, known_names(), errors);
  EXPECT_TRUE(errors.ok());
  EXPECT_EQ(to_json(out), "{\"$(n)\": [3, \"plain\", 5]}");
  EXPECT_EQ(out.entries()[0].value.items()[0].position(), at(2, 7));
}

TEST(Substitute, points_into_the_scalar) {
  EXPECT_EQ(substitute_complaint("a $(1 + 'b')"),
            "a.yaml:3:11: '+' needs two numbers or two strings, found the number 1 and the string 'b'");
  EXPECT_EQ(substitute_complaint("$(nn)", ConfigNode::Style::kQuoted),
            "a.yaml:3:8: unknown name 'nn'; did you mean 'n'?");
  EXPECT_EQ(substitute_complaint("x $(n"),
            "a.yaml:3:7: '$(' has no closing ')' in 'x $(n'; inside [ ] and { }, put quotes around an "
            "expression that has a comma or '}'");
  EXPECT_EQ(substitute_complaint("x$(list)"),
            "a.yaml:3:8: the value of the expression is a list, which cannot be part of a string");
}

TEST(Substitute, reports_every_wrong_string) {
  Diagnostics errors;
  const ConfigNode tree =
      ConfigNode::list({ConfigNode::string("$(x1)", at(1, 1)), ConfigNode::string("$(x2)", at(2, 1))});
  substitute(tree, known_names(), errors);
  EXPECT_EQ(errors.count(), 2U);
}

TEST(Substitute, leaves_expressions_with_bare_names_to_the_model) {
  EXPECT_EQ(substituted("$(filters * 2)", BareNames::kLeave), "\"$(filters * 2)\"");
  EXPECT_EQ(substituted("$(filters * vars.w + vars.minus)", BareNames::kLeave), "\"$(filters * 64 + (-2))\"");
  EXPECT_EQ(substituted("$(filters if vars.name == 'net' else 1)", BareNames::kLeave),
            "\"$(filters if 'net' == 'net' else 1)\"");
  EXPECT_EQ(substituted("$(vars.w * 2)", BareNames::kLeave), "128");
  EXPECT_EQ(substituted("x$(filters)-$(vars.w)", BareNames::kLeave), "\"x$(filters)-64\"");
}

TEST(Substitute, writes_set_variables_of_the_environment_next_to_bare_names) {
  ASSERT_EQ(setenv("TPACK_TEST_W", "8", 1), 0);
  ASSERT_EQ(unsetenv("TPACK_TEST_NONE"), 0);
  EXPECT_EQ(substituted("$(f * env.TPACK_TEST_W)", BareNames::kLeave), "\"$(f * 8)\"");
  EXPECT_EQ(substituted("$(f * (env.TPACK_TEST_NONE or 2))", BareNames::kLeave),
            "\"$(f * (env.TPACK_TEST_NONE or 2))\"");
}

TEST(Substitute, rejects_a_list_next_to_a_bare_name) {
  try {
    substituted("$(f + vars.list)", BareNames::kLeave);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "a.yaml:3:11: 'vars.list' is a list; next to a parameter of a block, only numbers, strings, "
                 "true and false are allowed");
  }
}

}  // namespace
}  // namespace tpack
