#include "predict/load_weights.h"

#include <gmock/gmock-more-matchers.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LoadWeights : public testing::Test {
 protected:
  LoadWeights() {
    table_.declare({"conv0/W", {DType::kFloat32, {2}}, VariableScope::kModel, true, nullptr});
    table_.declare({"fc1/W", {DType::kFloat32, {3}}, VariableScope::kModel, true, nullptr});
    table_.declare({"bn/mean/EMA", {DType::kFloat32, {1}}, VariableScope::kModel, false, nullptr});
    table_.declare({"learning_rate", {DType::kFloat32, {}}, VariableScope::kOptimizer, false, nullptr});
    store_ = std::make_unique<VariableStore>(table_);
    put("conv0/W", {1, 2});
    put("fc1/W", {3, 4, 5});
    put("bn/mean/EMA", {6});
    content_.tensors["optimizer/learning_rate"] = Tensor::scalar<float>(9);
  }
  void put(const std::string& name, const std::vector<float>& values) {
    content_.tensors["model/" + name] = Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
  }
  std::vector<double> values(const std::string& name) const {
    const Tensor tensor = store_->tensor(name);
    std::vector<double> all;
    for (int64_t i = 0; i < tensor.elements(); ++i) all.push_back(tensor.at(i));
    return all;
  }

  VariableTable table_;
  std::unique_ptr<VariableStore> store_;
  CheckpointContent content_;
};

TEST_F(LoadWeights, takes_everything_of_the_model_and_nothing_else) {
  const LoadReport report = load_weights(*store_, content_);
  EXPECT_THAT(report.loaded, ElementsAre("bn/mean/EMA", "conv0/W", "fc1/W"));
  EXPECT_THAT(values("fc1/W"), ElementsAre(3, 4, 5));
  EXPECT_THAT(values("learning_rate"), ElementsAre(0));
  EXPECT_EQ(report.str("a.h5"), "a.h5: 3 variables loaded");
}

TEST_F(LoadWeights, reports_what_is_missing_extra_and_mismatched_and_leaves_it_alone) {
  content_.tensors.erase("model/bn/mean/EMA");
  put("fc1/W", {1, 2});
  put("fc2/W", {1});
  const LoadReport report = load_weights(*store_, content_);
  EXPECT_EQ(report.str("a.h5"),
            "a.h5: 1 variables loaded\n"
            "  missing in the file: bn/mean/EMA\n"
            "  not in the model: fc2/W\n"
            "  does not fit: fc1/W: float32 [2] in the file, float32 [3] in the model");
  EXPECT_THAT(values("fc1/W"), ElementsAre(0, 0, 0));
}

TEST_F(LoadWeights, includes_excludes_and_renames_by_patterns) {
  put("old/conv0/W", {7, 8});
  content_.tensors.erase("model/conv0/W");
  content_.tensors.erase("model/bn/mean/EMA");
  const LoadReport report =
      load_weights(*store_, content_,
                   {.include = {"conv.*", "fc1/W"}, .exclude = {"fc.*"}, .rename = {{"old/(.*)", "$1"}}});
  EXPECT_THAT(report.loaded, ElementsAre("conv0/W"));
  EXPECT_THAT(report.left_out, ElementsAre("fc1/W"));
  EXPECT_THAT(report.missing, IsEmpty());  // what is left out was not wanted
  EXPECT_THAT(values("conv0/W"), ElementsAre(7, 8));
}

TEST_F(LoadWeights, takes_a_name_with_everything_below_it) {
  put("backbone/conv0/W", {7, 8});
  content_.tensors.erase("model/conv0/W");
  const LoadReport report = load_weights(
      *store_, content_, {.include = {"conv0", "fc1"}, .exclude = {"fc1"}, .rename = {{"backbone", "$0"}}});
  EXPECT_THAT(report.loaded, IsEmpty());
  EXPECT_THAT(report.left_out, testing::Contains("$0/conv0/W")) << "no groups in a name";
  const LoadReport renamed =
      load_weights(*store_, content_, {.include = {"conv0"}, .rename = {{"backbone/conv0", "conv0"}}});
  EXPECT_THAT(renamed.loaded, ElementsAre("conv0/W"));
  EXPECT_THAT(renamed.left_out, testing::Contains("fc1/W"));
}

TEST_F(LoadWeights, names_rules_that_match_nothing) {
  put("only_in_file", {1});
  const LoadReport report = load_weights(*store_, content_,
                                         {.include = {".*", "conv9/.*"},
                                          .exclude = {"fc1/.*", "fc1", "fc2", "only_in_file"},
                                          .rename = {{"conv9", "x"}, {"only_in_file", "y"}}});
  EXPECT_THAT(
      report.idle,
      ElementsAre("include: no variable matches 'conv9/.*' or is below it; did you mean 'conv0/W'?",
                  "exclude: no variable matches 'fc2' or is below it; did you mean 'fc1'?",
                  "exclude: no variable matches 'only_in_file' or is below it; known: bn, conv0, fc1, y",
                  "rename: no variable matches 'conv9' or is below it; did you mean 'conv0'?"));
  EXPECT_THAT(load_weights(*store_, content_).idle, IsEmpty());
}

TEST_F(LoadWeights, renames_a_name_once_where_the_pattern_matches_nothing_too) {
  put("0/W", {7, 8});
  content_.tensors.erase("model/conv0/W");
  const LoadReport report =
      load_weights(*store_, content_, {.rename = {{"0(.*)", "conv0$1"}, {"(.*)", "x/$1"}}});
  EXPECT_THAT(report.loaded, testing::Contains("conv0/W"));
  EXPECT_THAT(report.extra, testing::Contains("x/fc1/W"));
  EXPECT_THAT(values("conv0/W"), ElementsAre(7, 8));
}

TEST_F(LoadWeights, converts_between_float_types) {
  content_.tensors["model/conv0/W"] = Tensor::of<double>({2}, {0.5, 0.25});
  load_weights(*store_, content_);
  EXPECT_THAT(values("conv0/W"), ElementsAre(0.5, 0.25));
  content_.tensors["model/conv0/W"] = Tensor::of<int32_t>({2}, {1, 2});
  EXPECT_THAT(load_weights(*store_, content_).mismatched,
              ElementsAre("conv0/W: int32 [2] in the file, float32 [2] in the model"));
}

TEST_F(LoadWeights, all_means_all) {
  load_all_weights(*store_, content_, "a.h5");
  put("fc2/W", {1});
  load_all_weights(*store_, content_, "a.h5");  // more than needed is fine
  put("fc1/W", {1, 2});
  content_.tensors.erase("model/conv0/W");
  try {
    load_all_weights(*store_, content_, "a.h5");
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_STREQ(error.what(),
                 "a.h5: does not fit the model\n  missing in the file: conv0/W\n"
                 "  does not fit: fc1/W: float32 [2] in the file, float32 [3] in the model");
  }
}

std::string rule_errors(const std::string& yaml) {
  Diagnostics errors;
  parse_load_rules(parse_yaml(yaml, "init.yaml"), "init", errors);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadRules, are_read_from_a_config) {
  Diagnostics errors;
  const LoadRules rules = parse_load_rules(
      parse_yaml("include: [\"conv.*\"]\nexclude: [fc1/W]\nrename: {\"old/(.*)\": \"$1\"}", "init.yaml"),
      "init", errors);
  EXPECT_TRUE(errors.ok());
  EXPECT_THAT(rules.include, ElementsAre("conv.*"));
  EXPECT_THAT(rules.exclude, ElementsAre("fc1/W"));
  EXPECT_THAT(rules.rename, ElementsAre(std::pair<std::string, std::string>("old/(.*)", "$1")));
}

TEST(LoadRules, say_what_is_wrong) {
  EXPECT_EQ(rule_errors("inclde: [a]"),
            "init.yaml:1:1: unknown key 'inclde' in init; did you mean 'include'?");
  EXPECT_EQ(rule_errors("include: 3"),
            "init.yaml:1:10: 'include' of init: expected a list of strings, found the number 3");
  EXPECT_EQ(rule_errors("rename: [a]"),
            "init.yaml:1:9: 'rename' of init: expected a map of names, found a list");
  EXPECT_EQ(rule_errors("rename: {a: [b]}"),
            "init.yaml:1:13: 'rename' of init: expected a name for 'a', found a list");
  EXPECT_THAT(rule_errors("exclude: [\"(\"]"), testing::StartsWith("init.yaml:1:10: "));
}

TEST_F(LoadWeights, sizes_are_compared_without_the_variables) {
  VariableTable table;
  table.declare({.name = "conv0/W", .spec = {DType::kFloat32, {int64_t{1} << 40}}});
  table.declare({.name = "momentum", .spec = {DType::kFloat32, {2}}, .scope = VariableScope::kOptimizer});
  EXPECT_THAT([&] { require_all_weights(table, content_, "a.h5"); },
              testing::ThrowsMessage<CheckpointError>(testing::HasSubstr(
                  "does not fit: conv0/W: float32 [2] in the file, float32 [1099511627776] in the model")));
}

}  // namespace
}  // namespace tpack
