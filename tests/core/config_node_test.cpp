#include "core/config_node.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/position_at.h"

namespace tpack {
namespace {

using Kind = ConfigNode::Kind;

Kind kind_of(const char* text) { return ConfigNode::plain(text, {}).kind(); }

TEST(PlainScalar, is_typed_by_the_core_schema) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(kind_of(text), Kind::kNull) << text;
  for (const char* text : {"true", "True", "FALSE"}) EXPECT_EQ(kind_of(text), Kind::kBool) << text;
  for (const char* text : {"0", "-7", "+7", "007", "0x1F", "0o17"})
    EXPECT_EQ(kind_of(text), Kind::kInt) << text;
  for (const char* text : {"1.5", ".5", "1.", "1e-3", "-1E5", ".inf", "-.INF", "+.Inf", ".nan", ".NaN"}) {
    EXPECT_EQ(kind_of(text), Kind::kFloat) << text;
  }
}

TEST(PlainScalar, is_a_text_if_it_only_looks_like_something_else) {
  for (const char* text : {"yes", "off", "inf", "nan", "1_000", "12:30:45", "0x", "0x-5", "1.2.3", "-", ".",
                           "+", "--1", "1e", "nul", "tRue"}) {
    EXPECT_EQ(kind_of(text), Kind::kString) << text;
  }
}

TEST(PlainScalar, has_the_value_that_was_written) {
  EXPECT_EQ(ConfigNode::plain("0x1F", {}).as_int(), 31);
  EXPECT_EQ(ConfigNode::plain("0o17", {}).as_int(), 15);
  EXPECT_EQ(ConfigNode::plain("+7", {}).as_int(), 7);
  EXPECT_EQ(ConfigNode::plain("1e-3", {}).as_double(), 0.001);
  EXPECT_EQ(ConfigNode::plain("3", {}).as_double(), 3);
  EXPECT_TRUE(ConfigNode::plain("TRUE", {}).as_bool());
  EXPECT_EQ(ConfigNode::plain("-.inf", {}).as_double(), -INFINITY);
}

TEST(PlainScalar, that_no_integer_holds_is_a_float) {
  EXPECT_EQ(ConfigNode::plain("9223372036854775807", {}).as_int(), 9223372036854775807);
  EXPECT_EQ(ConfigNode::plain("9223372036854775808", {}).as_double(), 9223372036854775808.0);
}

TEST(ConfigNode, rejects_to_be_read_as_another_type) {
  EXPECT_THROW(ConfigNode(1).as_bool(), InternalError);
  EXPECT_THROW(ConfigNode(1.5).as_int(), InternalError);
  EXPECT_THROW(ConfigNode("1").as_double(), InternalError);
}

TEST(ConfigNode, describes_itself_for_messages) {
  EXPECT_EQ(ConfigNode().describe(), "nothing");
  EXPECT_EQ(ConfigNode(true).describe(), "'true'");
  EXPECT_EQ(ConfigNode(3).describe(), "the number 3");
  EXPECT_EQ(ConfigNode("abc").describe(), "the string 'abc'");
  EXPECT_EQ(ConfigNode(std::string(79, 'a') + "éb").describe(),
            "the string '" + std::string(79, 'a') + "...'");
  EXPECT_EQ(ConfigNode::list({}).describe(), "a list");
  EXPECT_EQ(ConfigNode::map({}).describe(), "a map");
}

TEST(ConfigNode, sets_a_key_in_its_place_and_leaves_the_old_tree_alone) {
  const ConfigNode old{{"a", 1}, {"b", 2}};
  const ConfigNode changed = old.with("a", 9).with("c", 3);
  EXPECT_EQ(to_json(changed), R"({"a": 9, "b": 2, "c": 3})");
  EXPECT_EQ(to_json(changed.without("b")), R"({"a": 9, "c": 3})");
  EXPECT_EQ(to_json(old), R"({"a": 1, "b": 2})");
}

TEST(ConfigNode, compares_values_without_places_and_order_of_keys) {
  const ConfigNode a = ConfigNode::map({{"x", ConfigNode::plain("1", at(3, 4))}, {"y", "t"}});
  EXPECT_TRUE(a.same_value(ConfigNode{{"y", "t"}, {"x", 1}}));
  EXPECT_FALSE(a.same_value(ConfigNode{{"x", 1}}));
  EXPECT_FALSE(ConfigNode(1).same_value(1.0));
  EXPECT_FALSE(ConfigNode::list({1, 2}).same_value(ConfigNode::list({2, 1})));
  EXPECT_TRUE(ConfigNode(NAN).same_value(NAN));
}

TEST(ConfigNode, knows_where_each_character_of_a_text_is) {
  const std::string text = "\xc3\xa4 $(x)";
  EXPECT_EQ(ConfigNode::string(text, at(2, 5)).text_position(5).column, 9);
  EXPECT_EQ(ConfigNode::string(text, at(2, 5), ConfigNode::Style::kQuoted).text_position(5).column, 10);
  EXPECT_EQ(ConfigNode::string(text, at(2, 5), ConfigNode::Style::kBlock).text_position(5).column, 5);
}

TEST(ComponentItem, is_a_name_or_a_map_with_one_name) {
  EXPECT_EQ(component_item("ReLU", "layer").name, "ReLU");
  const ComponentItem item = component_item({{"Dropout", {{"rate", 0.5}}}}, "layer");
  EXPECT_EQ(item.name, "Dropout");
  EXPECT_EQ(item.params.find("rate")->as_double(), 0.5);
}

TEST(ComponentItem, says_which_forms_are_legal) {
  const auto text_of = [](const ConfigNode& node) -> std::string {
    try {
      component_item(node, "layer");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(text_of(ConfigNode::plain("3", at(4, 7))),
            "a.yaml:4:7: expected a layer as 'Name' or 'Name: {...}', found the number 3");
  EXPECT_EQ(text_of({{"Dropout", {}}, {"rate", 0.5}}),
            "expected a layer as 'Name' or 'Name: {...}', found a map of Dropout, rate; keep one, or indent "
            "the keys of 'Dropout' further");
}

}  // namespace
}  // namespace tpack
