#include "graph/variables.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

VariableSpec weight(const std::string& name, const Shape& shape) {
  return {name, {DType::kFloat32, shape}, VariableScope::kModel, true, nullptr};
}

TEST(FlatLayout, follows_the_gradient_order_on_64_byte_boundaries) {
  VariableTable table;
  table.declare(weight("a", {3}));
  table.declare(weight("b", {17}));
  table.declare(weight("c", {2}));
  table.declare({"ema", {DType::kFloat32, {5}}, VariableScope::kModel, false, nullptr});
  table.set_groups({{"", {"b", "a", "c"}}});
  const FlatLayout layout = flat_layout(table, table.groups().front());
  ASSERT_EQ(layout.entries.size(), 3U);
  EXPECT_EQ(layout.entries[0].name, "b");
  EXPECT_EQ(layout.entries[1].name, "a");
  EXPECT_EQ(layout.entries[1].offset, 32);
  EXPECT_EQ(layout.entries[2].name, "c");
  EXPECT_EQ(layout.size, 64);
}

TEST(PatternOfVariables, is_for_whole_names_or_what_is_below_a_name) {
  EXPECT_TRUE(is_for_variable("body", "body/fc/W"));
  EXPECT_TRUE(is_for_variable("body/fc", "body/fc/W"));
  EXPECT_TRUE(is_for_variable(".*/W", "body/fc/W"));
  EXPECT_FALSE(is_for_variable("bod", "body/fc/W"));
  EXPECT_FALSE(is_for_variable("fc", "body/fc/W"));
  EXPECT_FALSE(is_for_variable("body/f", "body/fc/W"));
  EXPECT_FALSE(is_for_variable(".*/b", "body/b/W")) << "an expression is for the whole name";
  EXPECT_THROW(is_for_variable("(", "body/fc/W"), ConfigError);
}

TEST(PatternOfVariables, that_matches_nothing_gets_the_nearest_name) {
  const std::vector<std::string> known = {"body/fc/W", "body/fc/b", "head/W"};
  EXPECT_EQ(no_match("variable", "bodi", known),
            "no variable matches 'bodi' or is below it; did you mean 'body'?");
  EXPECT_EQ(no_match("variable", "body/fd", known),
            "no variable matches 'body/fd' or is below it; did you mean 'body/fc'?");
  EXPECT_EQ(no_match("variable", "zzz", known),
            "no variable matches 'zzz' or is below it; known: body, head");
}

TEST(VariableTable, rejects_a_second_declaration_that_differs) {
  VariableTable table;
  table.declare(weight("a", {3}));
  EXPECT_NO_THROW(table.declare(weight("a", {3})));
  VariableSpec frozen = weight("a", {3});
  frozen.trainable = false;
  EXPECT_THROW(table.declare(frozen), ShapeError);
  EXPECT_EQ(table.find("b"), nullptr);
}

TEST(VariableTable, that_is_closed_takes_no_new_names) {
  VariableTable table;
  table.declare(weight("a", {3}));
  table.close();
  EXPECT_NO_THROW(table.declare(weight("a", {3})));
  EXPECT_THROW(table.declare(weight("b", {3})), ShapeError);
  EXPECT_EQ(table.find("b"), nullptr);
}

}  // namespace
}  // namespace tpack
