#include "cli/start_report.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(StartReport, multiplies_batches_towers_and_ranks) {
  const std::string text = describe_run({64, 2, 3}, {1, 10, 50}, 100);
  EXPECT_NE(text.find("total batch          384"), std::string::npos) << text;
  EXPECT_NE(text.find("samples an epoch  19,200"), std::string::npos) << text;
  EXPECT_NE(text.find("passes an epoch      0.5"), std::string::npos) << text;
}

TEST(StartReport, says_where_the_length_of_a_pass_is_not_known) {
  EXPECT_NE(describe_run({64, 1, 1}, {1, 10, 50}, std::nullopt).find("unknown"), std::string::npos);
}

TEST(StartReport, lists_trainable_variables_by_name) {
  VariableTable table;
  table.declare({"b/W", {DType::kFloat32, {2, 3}}, VariableScope::kModel, true});
  table.declare({"a/W", {DType::kFloat32, {4}}, VariableScope::kModel, true});
  table.declare({"a/mean", {DType::kFloat32, {4}}, VariableScope::kModel, false});
  table.set_gradient_order({"b/W", "a/W"});
  const std::string text = describe_variables(VariableStore(table));
  EXPECT_LT(text.find("a/W"), text.find("b/W"));
  EXPECT_EQ(text.find("a/mean"), std::string::npos);
  EXPECT_NE(text.find("10\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tpack
