#include <cmath>

#include <gtest/gtest.h>

#include "core/config_node.h"

namespace tpack {
namespace {

TEST(ToYaml, writes_blocks_with_two_spaces_and_short_lists_in_one_line) {
  const ConfigNode layers = ConfigNode::list({{{"Conv2D", {{"name", "conv0"}, {"kernel", 3}}}}, "ReLU"});
  const ConfigNode root{
      {"tpack", 1},
      {"vars", ConfigNode::map({})},
      {"model", {{"layers", layers}}},
      {"values", ConfigNode::list({ConfigNode::list({10, 0.25}), ConfigNode::list({15, 2.0})})}};
  EXPECT_EQ(to_yaml(root),
            "tpack: 1\n"
            "vars: {}\n"
            "model:\n"
            "  layers:\n"
            "    - Conv2D:\n"
            "        name: conv0\n"
            "        kernel: 3\n"
            "    - ReLU\n"
            "values: [[10, 0.25], [15, 2.0]]\n");
}

TEST(ToYaml, quotes_texts_that_would_come_back_as_something_else) {
  for (const char* text :
       {"",   "3",  "true", "null", "~",     "a: b", "a #b", "- a",  "*x",    "&x", "!x", "[x", "a, b",
        "x:", " x", "x ",   "'x'",  "\"x\"", "a\nb", "a\tb", "a\rb", "a\x7f", "@x", "%x", "=",  "? x"}) {
    const std::string yaml = to_yaml(ConfigNode{{"k", text}});
    EXPECT_EQ(yaml.substr(0, 4), "k: \"") << yaml;
  }
  EXPECT_EQ(to_yaml(ConfigNode{{"k", "$(a + 1)"}}), "k: $(a + 1)\n");
  EXPECT_EQ(to_yaml(ConfigNode{{"k", "../a b/c.yaml"}}), "k: ../a b/c.yaml\n");
}

TEST(ToYaml, keeps_a_float_a_float) {
  EXPECT_EQ(to_yaml(ConfigNode{{"k", 2.0}}), "k: 2.0\n");
  EXPECT_EQ(to_yaml(ConfigNode{{"k", 1e20}}), "k: 1e+20\n");
  EXPECT_EQ(ConfigNode::plain("1e+20", {}).kind(), ConfigNode::Kind::kFloat);
}

TEST(ToJson, is_one_line_of_json) {
  const ConfigNode node{{"a", ConfigNode::list({1, 2.5, true, {}})}, {"b \"q\"", "line\n\x01"}};
  EXPECT_EQ(to_json(node), R"({"a": [1, 2.5, true, null], "b \"q\"": "line\n\u0001"})");
  EXPECT_EQ(to_json(ConfigNode::list({})), "[]");
  EXPECT_EQ(to_json(ConfigNode::map({})), "{}");
}

TEST(ToJson, writes_numbers_that_json_lacks_as_texts) {
  EXPECT_EQ(to_json(ConfigNode::list({NAN, INFINITY})), R"([".nan", ".inf"])");
}

}  // namespace
}  // namespace tpack
