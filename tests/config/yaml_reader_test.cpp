#include "config/yaml_reader.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/errors.h"

namespace tpack {
namespace {

std::string json(const std::string& text) { return to_json(parse_yaml(text, "a.yaml")); }

std::string reading_complaint(const std::string& text) {
  return error_from([&] { parse_yaml(text, "a.yaml"); });
}

TEST(YamlReader, types_plain_scalars_and_leaves_quoted_ones_texts) {
  EXPECT_EQ(json("[1, '1', 1.5, \"1.5\", true, 'true', null, 'null', ~, yes, '']"),
            R"([1, "1", 1.5, "1.5", true, "true", null, "null", null, "yes", ""])");
}

TEST(YamlReader, says_how_environment_variables_are_written) {
  const std::string complaint = reading_complaint("optimizer: {Adam: {learning_rate: ${LR}}}");
  EXPECT_TRUE(complaint.ends_with("; write $(env.LR) for the environment variable")) << complaint;
  EXPECT_EQ(reading_complaint("a: {b: c}}").find("env."), std::string::npos);
}

TEST(YamlReader, reads_blocks_flows_and_folded_texts) {
  EXPECT_EQ(json("a:\n  - b: {c: [1, 2]}\n  - |\n    two\n    lines\n  - >\n    one\n    line\n"),
            "{\"a\": [{\"b\": {\"c\": [1, 2]}}, \"two\\nlines\\n\", \"one line\\n\"]}");
}

TEST(YamlReader, reads_expressions_without_quotes_in_flow_style) {
  EXPECT_EQ(json("{filters: $(16 * width), name: $('a' if n == 1 else 'b')}"),
            "{\"filters\": \"$(16 * width)\", \"name\": \"$('a' if n == 1 else 'b')\"}");
}

TEST(YamlReader, knows_the_place_of_every_value_and_key) {
  const ConfigNode root = parse_yaml("a:\n  - x\n  - 'q'\n  - &anchor {k: 1}\nb:\nc: 2\n", "a.yaml");
  const ConfigNode& list = *root.find("a");
  EXPECT_EQ(list.position().str(), "a.yaml:2:3");
  EXPECT_EQ(list.items()[0].position().str(), "a.yaml:2:5");
  EXPECT_EQ(list.items()[1].position().str(), "a.yaml:3:5");
  EXPECT_EQ(list.items()[1].style(), ConfigNode::Style::kQuoted);
  EXPECT_EQ(list.items()[2].position().str(), "a.yaml:4:13");
  EXPECT_EQ(list.items()[2].entries()[0].key_position.str(), "a.yaml:4:14");
  EXPECT_EQ(root.find("b")->position().str(), "a.yaml:5:1");
}

TEST(YamlReader, expands_aliases) {
  EXPECT_EQ(json("a: &x [1, 2]\nb: *x\nc: [*x, *x]\n"),
            R"({"a": [1, 2], "b": [1, 2], "c": [[1, 2], [1, 2]]})");
}

TEST(YamlReader, keeps_the_tags_of_merging) {
  const ConfigNode root = parse_yaml("a: !append [1]\nb: !delete\nc: !delete ~\n", "a.yaml");
  EXPECT_EQ(root.find("a")->tag(), kAppendTag);
  EXPECT_EQ(root.find("b")->tag(), kDeleteTag);
  EXPECT_EQ(parse_yaml("!delete", "a.yaml").tag(), kDeleteTag);
  EXPECT_EQ(parse_yaml("a: !append\n  - 1\n", "a.yaml").find("a")->tag(), kAppendTag);
}

TEST(YamlReader, writes_and_reads_the_same_values) {
  const std::string texts[] = {"a: [1, 'x y', \"q\\\"\\n\", -.inf, 1e-7]\nb: {c: {}, d: [], e: ~}\n",
                               "- [[1, 2], [3]]\n- {a: [{b: 1}, {c: [{d: 2}]}]}\n- 'null'\n- 007\n",
                               "\n\ufeffa"};
  for (const std::string& text : texts) {
    const ConfigNode once = parse_yaml(text, "a");
    EXPECT_TRUE(parse_yaml(to_yaml(once), "b").same_value(once)) << to_yaml(once);
  }
}

TEST(YamlReader, limits_what_a_small_file_can_grow_to) {
  std::string bomb = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    bomb += "- &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_NE(reading_complaint(bomb).find("more than 100000 values"), std::string::npos);
  EXPECT_TRUE(says(reading_complaint(std::string(100000, '[')), {"nested deeper than 64 levels"}));
  std::string many = "[";
  for (int i = 0; i < 100001; ++i) many += "1,";
  EXPECT_NE(reading_complaint(many + "]").find("more than 100000 values"), std::string::npos);
}

TEST(YamlReader, prefers_the_open_bracket_to_the_key_it_seems_to_make) {
  EXPECT_EQ(reading_complaint("a: [1"), "a.yaml:1:6: not valid YAML: a '[' has no closing ']'");
  EXPECT_EQ(reading_complaint("{[1, 2]: 3}"), "a.yaml:1:2: a key must be a word, a number or a string");
}

}  // namespace
}  // namespace tpack
