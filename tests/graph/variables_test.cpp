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

TEST(VariableTable, refuses_a_second_declaration_that_differs) {
  VariableTable table;
  table.declare(weight("a", {3}));
  EXPECT_NO_THROW(table.declare(weight("a", {3})));
  VariableSpec frozen = weight("a", {3});
  frozen.trainable = false;
  EXPECT_THROW(table.declare(frozen), ShapeError);
  EXPECT_EQ(table.find("b"), nullptr);
}

}  // namespace
}  // namespace tpack
