#include "config/overrides.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "small_structure.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing_config::small_structure;

ConfigNode parsed(const std::string& text) {
  NodeBudget budget;
  return parse_override(text, budget);
}

std::string complaint(const std::string& config, const std::string& text) {
  return error_from([&] { check_override(parse_yaml(config, "a.yaml"), small_structure(), parsed(text)); });
}

TEST(Override, is_yaml_below_its_key) {
  EXPECT_EQ(to_json(parsed("a.b.c=64")), R"({"a": {"b": {"c": 64}}})");
  EXPECT_EQ(to_json(parsed("a=[1, {b: 'x=y'}]")), R"({"a": [1, {"b": "x=y"}]})");
  EXPECT_EQ(to_json(parsed("a=")), R"({"a": null})");
  EXPECT_EQ(to_json(parsed("a=hello world")), R"({"a": "hello world"})");
}

TEST(Override, of_a_variable_that_nothing_has_or_uses_is_rejected) {
  EXPECT_TRUE(says(complaint("{vars: {side: 3}, a: [x]}", "vars.dir=z"), {"--set vars.dir: 'vars' has no"}));
  EXPECT_EQ(complaint("{vars: {side: 3}, a: [{b: $(vars.dir or 1)}]}", "vars.dir=z"), "no error");
  EXPECT_EQ(complaint("{vars: {side: 3}, a: [{b: $(dir)}]}", "vars.dir=z"), "no error");
  EXPECT_EQ(complaint("{vars: {side: 3}}", "vars.side=4"), "no error");
}

TEST(Override, may_delete_and_append) {
  EXPECT_EQ(parsed("a=!delete").find("a")->tag(), kDeleteTag);
  EXPECT_EQ(parsed("a=!append [1]").find("a")->tag(), kAppendTag);
}

TEST(Override, has_the_option_as_its_place) {
  const ConfigNode tree = parsed("a.b=[1]");
  EXPECT_EQ(tree.find("a")->find("b")->items()[0].position().str(), "--set a.b");
  EXPECT_EQ(tree.entries()[0].key_position.str(), "--set a.b");
}

TEST(CheckOverride, finds_slips_on_the_way_but_lets_new_keys_be) {
  const std::string config = "model: {layers: [ReLU]}\nvars: {width: 3}\noptimizer: {Adam: {beta1: 0.9}}\n";
  EXPECT_TRUE(says(complaint(config, "modle.layers.ReLU.x=1"),
                   {"--set modle.layers.ReLU.x", "did you mean 'model'?"}));
  EXPECT_TRUE(
      says(complaint(config, "model.layer.ReLU.x=1"), {"'model' has no 'layer'; did you mean 'layers'?"}));
  EXPECT_TRUE(says(complaint(config, "vars.widht=4"), {"'vars' has no 'widht'; did you mean 'width'?"}));
  for (const char* fine : {"engine.threads=2", "optimizer.Adam.beta2=0.99", "optimizer.AdamW.beta1=0.99"})
    EXPECT_EQ(complaint(config, fine), "no error");
}

TEST(CheckOverride, lets_fields_be_that_are_not_written_yet) {
  EXPECT_EQ(complaint("model: {cost: [A]}", "model.costs.d=[A]"), "no error")
      << "a field, and no slip of 'cost'";
  EXPECT_EQ(complaint("model: {cost: [A]}", "model.cots.d=[A]"),
            "--set model.cots.d: 'model' has no 'cots'; did you mean 'cost'?");
  EXPECT_EQ(complaint("data: {train: {flow: [Mnist], workers: 1}}", "data.train.Mnits.split=test"),
            "no error")
      << "an item of the flow, which merging looks for";
}

TEST(CheckNumberedItems, says_how_to_replace_an_item) {
  const ConfigNode config = parse_yaml("data: {train: [Mnist: {split: test}, {Batch: {n: 2}}]}", "a.yaml");
  EXPECT_NO_THROW(check_numbered_items(config, small_structure(), "data.train.0={CSV: {path: x}}"));
  EXPECT_NO_THROW(check_numbered_items(config, small_structure(), "data.train.0.Mnist.split=train"));
  EXPECT_NO_THROW(check_numbered_items(config, small_structure(), "data.train.0.split=train"));
  EXPECT_EQ(error_from([&] { check_numbered_items(config, small_structure(), "data.train.0.CSV.path=x"); }),
            "--set data.train.0.CSV.path: 'data.train.0' is Mnist, not CSV; to replace it, write "
            "--set 'data.train.0={CSV: {...}}'");
}

}  // namespace
}  // namespace tpack
