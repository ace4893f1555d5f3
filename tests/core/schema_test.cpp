#include "core/schema.h"

#include <gtest/gtest.h>

#include "core/position_at.h"

namespace tpack {
namespace {

struct ThingParams {
  double rate = 0.5;
  int units = 0;
  std::vector<std::string> names = {"a"};
  bool operator==(const ThingParams&) const = default;
};

Schema<ThingParams> thing_schema() {
  return Schema<ThingParams>("A thing.")
      .field("units", &ThingParams::units, at_least(1), "number of outputs")
      .required()
      .shorthand()
      .field("rate", &ThingParams::rate, between(0, 1), "share of things")
      .field("names", &ThingParams::names, "what they are called");
}

std::string schema_complaint(const ConfigNode& node) {
  try {
    thing_schema().parse(node, "layer Thing");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Schema, fills_what_is_not_given_with_the_member_initializers) {
  const ThingParams params = thing_schema().parse({{"units", 3}}, "layer Thing");
  EXPECT_EQ(params, (ThingParams{0.5, 3, {"a"}}));
}

TEST(Schema, takes_the_value_itself_for_its_shorthand_field) {
  EXPECT_EQ(thing_schema().parse(7, "layer Thing").units, 7);
}

TEST(Schema, reports_a_missing_field_with_its_meaning) {
  EXPECT_EQ(schema_complaint(ConfigNode::map({}, at(3, 5))),
            "a.yaml:3:5: layer Thing: 'units' is missing (number of outputs)");
}

TEST(Schema, reports_all_mistakes_at_once_in_file_order) {
  const ConfigNode node = ConfigNode::map({{"unit", ConfigNode::plain("3", at(4, 8)), at(4, 1)},
                                           {"rate", ConfigNode::plain("2", at(5, 8)), at(5, 1)},
                                           {"zzz", ConfigNode::plain("3", at(6, 8)), at(6, 1)}},
                                          at(3, 1));
  EXPECT_EQ(schema_complaint(node),
            "a.yaml:3:1: layer Thing: 'units' is missing (number of outputs)\n"
            "a.yaml:4:1: unknown key 'unit' in layer Thing; did you mean 'units'?\n"
            "a.yaml:5:8: 'rate' of layer Thing is 2; must be from 0 to 1\n"
            "a.yaml:6:1: unknown key 'zzz' in layer Thing; known: units, rate, names");
}

TEST(Schema, says_where_a_space_is_missing) {
  EXPECT_EQ(schema_complaint({{"units", 1}, {"rate:0.5", ConfigNode()}}),
            "unknown key 'rate:0.5' in layer Thing; write 'rate: 0.5', with a space after the colon");
}

TEST(Schema, says_how_decimal_numbers_are_written) {
  EXPECT_EQ(schema_complaint({{"units", 1}, {"rate", 0}, {"002", ConfigNode()}}),
            "unknown key '002' in layer Thing; write decimal numbers with a point, 0.5");
}

TEST(Schema, rejects_a_list_instead_of_parameters) {
  Diagnostics errors;
  Schema<NoParams>("Nothing.").parse(ConfigNode::list({}, at(2, 2)), "layer ReLU", errors);
  try {
    errors.throw_if_any();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "a.yaml:2:2: layer ReLU: expected a map of parameters {key: value}, found a list");
  }
}

TEST(Schema, says_that_a_component_takes_no_parameters) {
  Diagnostics errors;
  Schema<NoParams>("Nothing.").parse({{"x", 1}}, "layer ReLU", errors);
  try {
    errors.throw_if_any();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "unknown key 'x' in layer ReLU; it has no keys");
  }
}

TEST(Schema, dumps_what_it_parses) {
  const ThingParams params{0.25, 4, {"x", "y"}};
  const ConfigNode dumped = thing_schema().dump(params);
  EXPECT_EQ(to_json(dumped), R"({"units": 4, "rate": 0.25, "names": ["x", "y"]})");
  EXPECT_EQ(thing_schema().parse(dumped, "layer Thing"), params);
}

TEST(Schema, describes_its_fields) {
  const auto fields = thing_schema().fields();
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_TRUE(fields[0].required);
  EXPECT_FALSE(fields[1].required);
  EXPECT_EQ(fields[1].default_value.as_double(), 0.5);
  EXPECT_EQ(fields[1].check.str(), "from 0 to 1");
  EXPECT_EQ(thing_schema().summary(), "A thing.");
}

}  // namespace
}  // namespace tpack
