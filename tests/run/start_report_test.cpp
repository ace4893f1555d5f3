#include "run/start_report.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/errors.h"

namespace tpack {
namespace {

DataFlow batches(int samples, const std::string& batching) {
  return make_flow(parse_yaml(
      "[FakeData: {size: " + std::to_string(samples) + ", shapes: [[2]]}, BatchData: {" + batching + "}]",
      "test.yaml"));
}

TEST(StartReport, multiplies_batches_towers_and_ranks) {
  const DataFlow train = batches(38400, "batch_size: 64");
  const std::string text = describe_run({64, 2, 3}, {1, 10, 50}, &train);
  EXPECT_TRUE(
      says(text, {"total batch           384", "samples per epoch  19,200", "passes per epoch      0.5"}));
}

TEST(StartReport, counts_the_samples_of_a_smaller_last_batch) {
  const DataFlow keeps = batches(95, "batch_size: 30, remainder: true");
  std::string text = describe_run({30, 1, 1}, {1, 10, 8}, &keeps);  // two passes of four batches
  EXPECT_TRUE(says(text, {"samples per epoch    190", "passes per epoch       2"}));
  const DataFlow drops = batches(95, "batch_size: 30");
  text = describe_run({30, 2, 1}, {1, 10, 1}, &drops);  // two of the three batches of a pass
  EXPECT_TRUE(says(text, {"samples per epoch      60", "passes per epoch   0.6667"}));
}

TEST(StartReport, says_if_the_length_of_a_pass_is_unknown) {
  EXPECT_NE(describe_run({64, 1, 1}, {1, 10, 50}, nullptr).find("unknown"), std::string::npos);
}

TEST(StartReport, has_no_batches_of_a_trainer_without_data) {
  const std::string text = describe_run({}, {1, 10, 50}, nullptr);
  EXPECT_NE(text.find("steps per epoch"), std::string::npos) << text;
  EXPECT_EQ(text.find("batch"), std::string::npos) << text;
  EXPECT_EQ(text.find("samples"), std::string::npos) << text;
}

TEST(StartReport, lists_trainable_variables_by_name) {
  VariableTable table;
  table.declare({"b/W", {DType::kFloat32, {2, 3}}, VariableScope::kModel, true});
  table.declare({"a/W", {DType::kFloat32, {4}}, VariableScope::kModel, true});
  table.declare({"a/mean", {DType::kFloat32, {4}}, VariableScope::kModel, false});
  table.set_groups({{"", {"b/W", "a/W"}}});
  const std::string text = describe_variables(VariableStore(table), {});
  EXPECT_LT(text.find("a/W"), text.find("b/W"));
  EXPECT_EQ(text.find("a/mean"), std::string::npos);
  EXPECT_NE(text.find("10\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("learning rate"), std::string::npos);
}

TEST(StartReport, says_what_is_frozen_and_what_has_another_learning_rate) {
  VariableTable table;
  for (const char* name : {"body/W", "head/W", "head/b"})
    table.declare({name, {DType::kFloat32, {2}}, VariableScope::kModel, true});
  table.set_groups({{"", {"head/W", "head/b"}}});
  const auto optimizer = Registry<Optimizer>::make_item(
      parse_yaml("SGD: {learning_rate_multipliers: {head/W: 10}}", "optimizer.yaml"));
  const std::vector<Update> updates = {{.optimizer = optimizer.get()}};
  const std::string text = describe_variables(VariableStore(table), updates);
  EXPECT_THAT(text, testing::ContainsRegex("body/W.*none: frozen"));
  EXPECT_THAT(text, testing::ContainsRegex("head/W.*x 10"));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("head/b.*x 1")));
}

}  // namespace
}  // namespace tpack
