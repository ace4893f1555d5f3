#include "config/explain.h"

#include <gtest/gtest.h>

#include "config/merge.h"
#include "config/overrides.h"
#include "config/yaml_reader.h"

namespace tpack {
namespace {

class Explain : public testing::Test {
 protected:
  void add(ConfigNode tree) {
    Diagnostics errors;
    merged_ = merge(merged_, tree, errors);
    errors.throw_if_any();
    sources_.push_back(std::move(tree));
  }
  void file(const std::string& name, const std::string& text) { add(parse_yaml(text, name)); }
  void option(const std::string& text) {
    NodeBudget budget;
    add(parse_override(text, budget));
  }
  std::string of(const std::string& key) const {
    std::string text;
    for (const Origin& origin : explain(sources_, merged_, key)) text += origin.str() + "\n";
    return text;
  }

  ConfigNode merged_ = ConfigNode::map({});
  std::vector<ConfigNode> sources_;
};

TEST_F(Explain, lists_every_place_in_order_and_marks_the_one_that_counts) {
  file("net.yaml", "layers: [Conv2D: {name: conv0, filters: 16}]");
  file("train.yaml", "layers:\n  conv0: {filters: 32}\n");
  option("layers.conv0.filters=64");
  EXPECT_EQ(of("layers.conv0.filters"),
            "net.yaml:1:41: 16\ntrain.yaml:2:20: 32\n--set layers.conv0.filters: 64 (used)\n");
}

TEST_F(Explain, shows_where_a_value_was_deleted_and_set_again) {
  file("a.yaml", "vars: {x: 1}");
  option("vars=!delete");
  file("b.yaml", "vars: {x: 3}");
  EXPECT_EQ(of("vars.x"), "a.yaml:1:11: 1\n--set vars: deleted\nb.yaml:1:11: 3 (used)\n");
}

TEST_F(Explain, does_not_call_a_deleted_value_used) {
  file("a.yaml", "vars: {x: 1}");
  option("vars.x=!delete");
  EXPECT_EQ(of("vars.x"), "a.yaml:1:11: 1\n--set vars.x: deleted\n");
}

TEST_F(Explain, marks_the_last_change_of_a_map) {
  file("a.yaml", "vars: {x: 1}");
  file("b.yaml", "vars: {y: 2}");
  EXPECT_EQ(of("vars"), "a.yaml:1:7: {\"x\": 1}\nb.yaml:1:7: {\"y\": 2} (used)\n");
}

TEST_F(Explain, refuses_what_is_set_nowhere) {
  file("a.yaml", "vars: {width: 1}");
  const auto complaint = [&](const std::string& key) -> std::string {
    try {
      of(key);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(complaint("vars.widht"), "'vars' has no 'widht'; did you mean 'width'?");
  EXPECT_EQ(complaint("trainer"), "the config has no 'trainer'; its default is used");
}

}  // namespace
}  // namespace tpack
