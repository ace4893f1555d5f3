#include "config/explain.h"

#include <gtest/gtest.h>

#include "config/merge.h"
#include "config/overrides.h"
#include "config/yaml_reader.h"
#include "small_structure.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing_config::small_structure;

class Explain : public testing::Test {
 protected:
  void add(ConfigNode tree) {
    Diagnostics errors;
    merged_ = merge(merged_, tree, small_structure(), errors);
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
    for (const Origin& origin : explain(sources_, merged_, small_structure(), key))
      text += origin.str() + "\n";
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

TEST_F(Explain, has_a_form_for_programs) {
  file("a.yaml", "vars: {x: '1'}");
  option("vars.x=!delete");
  const auto origins = explain(sources_, merged_, small_structure(), "vars.x");
  ASSERT_EQ(origins.size(), 2U);
  EXPECT_EQ(origins[0].json(), R"({"where": "a.yaml:1:11", "value": "1", "used": false})");
  EXPECT_EQ(origins[1].json(), R"({"where": "--set vars.x", "deleted": true, "used": false})");
}

TEST_F(Explain, says_nothing_of_what_is_set_nowhere) {
  file("a.yaml", "vars: {width: 1}");
  EXPECT_EQ(of("trainer"), "");
}

TEST(ThrowUnknownKey, says_what_is_unknown_and_what_may_have_been_meant) {
  const auto complaint = [](const std::string& key) -> std::string {
    const ConfigNode config = parse_yaml(
        "vars: {width: 1}\ninit: null\nlayers: [Conv2D: {name: a}, Conv2D: {name: b}]\n", "a.yaml");
    return error_from([&] { throw_unknown_key(config, small_structure(), key); });
  };
  EXPECT_TRUE(says(complaint("vars.widht"), {"'vars.widht'", "did you mean 'vars.width'?"}));
  EXPECT_EQ(complaint("nope.x"), "unknown key 'nope.x': the config has no 'nope'");
  EXPECT_EQ(complaint("init.from"), "unknown key 'init.from': 'init' is null");
  EXPECT_TRUE(says(complaint("layers.Conv2D.name"),
                   {"'Conv2D' is ambiguous", "0 Conv2D (a), 1 Conv2D (b)", "use its number or name"}));
}

}  // namespace
}  // namespace tpack
