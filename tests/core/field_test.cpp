#include "core/field.h"

#include <gtest/gtest.h>

#include "core/position_at.h"

namespace tpack {
namespace {

enum class Color : uint8_t { kRed, kBlue };

}  // namespace

template <>
struct EnumNames<Color> {
  static constexpr std::array<std::pair<const char*, Color>, 2> kNames = {
      {{"red", Color::kRed}, {"blue", Color::kBlue}}};
};

namespace {

ConfigNode plain(const std::string& text) { return ConfigNode::plain(text, at(2, 3)); }

/// The error of parsing a T from the node; "" if it is valid.
template <class T>
std::string field_complaint(const ConfigNode& node, const Check& check = {}) {
  Diagnostics errors;
  Reader reader("'x' of Thing", check, errors);
  const bool parsed = Codec<T>::parse(node, reader).has_value();
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    EXPECT_FALSE(parsed);
    return error.what();
  }
  EXPECT_TRUE(parsed);
  return "";
}

template <class T>
T value_of(const ConfigNode& node) {
  Diagnostics errors;
  const Check check;
  Reader reader("'x' of Thing", check, errors);
  return Codec<T>::parse(node, reader).value();
}

TEST(BoolCodec, takes_true_and_false_only) {
  EXPECT_TRUE(value_of<bool>(plain("true")));
  EXPECT_EQ(field_complaint<bool>(plain("1")),
            "a.yaml:2:3: 'x' of Thing: expected true or false, found the number 1");
  EXPECT_EQ(
      field_complaint<bool>(plain("yes")),
      "a.yaml:2:3: 'x' of Thing: expected true or false (YAML 1.2 has no 'yes'), found the string 'yes'");
}

TEST(IntegerCodec, rejects_what_does_not_fit) {
  EXPECT_EQ(value_of<int8_t>(plain("-128")), -128);
  EXPECT_EQ(field_complaint<int8_t>(plain("128")),
            "a.yaml:2:3: 'x' of Thing: 128 is out of range; must be from -128 to 127");
  EXPECT_EQ(field_complaint<uint32_t>(plain("-1")),
            "a.yaml:2:3: 'x' of Thing: -1 is out of range; must be from 0 to 4294967295");
  EXPECT_EQ(field_complaint<int>(plain("2.0")),
            "a.yaml:2:3: 'x' of Thing: expected an integer, found the number 2.0");
}

TEST(RealCodec, shows_a_float_as_it_is_written) {
  EXPECT_EQ(Codec<float>::dump(0.2F).as_double(), 0.2);
  EXPECT_EQ(Codec<double>::dump(0.2).as_double(), 0.2);
}

TEST(RealCodec, takes_integers_too) {
  EXPECT_EQ(value_of<double>(plain("3")), 3.0);
  EXPECT_EQ(value_of<float>(plain("0.1")), 0.1F);
  EXPECT_EQ(field_complaint<double>(ConfigNode::string("1e-3", at(2, 3))),
            "a.yaml:2:3: 'x' of Thing: expected a number (remove the quotes), found the string '1e-3'");
}

TEST(RealCodec, rejects_a_number_too_large_for_a_float) {
  EXPECT_EQ(value_of<double>(plain("1e300")), 1e300);
  EXPECT_EQ(field_complaint<float>(plain("1e300")),
            "a.yaml:2:3: 'x' of Thing: 1e300 is out of range; must be at most 3.4028235e+38");
}

TEST(RealCodec, rejects_what_no_computation_comes_back_from) {
  for (const char* text : {".inf", "-.inf", ".nan"}) {
    EXPECT_EQ(field_complaint<double>(plain(text)),
              "a.yaml:2:3: 'x' of Thing: " + std::string(text) + " is not a finite number");
  }
}

TEST(TextCodec, asks_for_quotes_around_a_number) {
  EXPECT_EQ(value_of<std::string>(plain("abc")), "abc");
  EXPECT_EQ(field_complaint<std::string>(plain("12")),
            "a.yaml:2:3: 'x' of Thing: expected a string (write \"12\"), found the number 12");
  EXPECT_EQ(field_complaint<std::string>(ConfigNode::null(at(2, 3))),
            "a.yaml:2:3: 'x' of Thing: expected a string, found nothing");
}

TEST(EnumCodec, suggests_the_nearest_name) {
  EXPECT_EQ(value_of<Color>(plain("blue")), Color::kBlue);
  EXPECT_EQ(field_complaint<Color>(plain("bleu")),
            "a.yaml:2:3: 'x' of Thing: unknown value 'bleu'; must be one of red, blue; did you mean 'blue'?");
  EXPECT_EQ(field_complaint<Color>(ConfigNode::list({}, at(2, 3))),
            "a.yaml:2:3: 'x' of Thing: expected one of red, blue, found a list of 0");
  EXPECT_EQ(Codec<Color>::dump(Color::kRed).text(), "red");
}

TEST(ListCodec, reports_every_wrong_item_at_its_place) {
  EXPECT_EQ(value_of<std::vector<int>>(ConfigNode::list({1, 2})), (std::vector<int>{1, 2}));
  const ConfigNode list = ConfigNode::list(
      {ConfigNode::plain("a", at(3, 1)), ConfigNode::plain("1", at(3, 4)), ConfigNode::plain("b", at(3, 7))});
  EXPECT_EQ(field_complaint<std::vector<int>>(list),
            "a.yaml:3:1: 'x' of Thing: expected an integer, found the string 'a'\n"
            "a.yaml:3:7: 'x' of Thing: expected an integer, found the string 'b'");
  EXPECT_EQ(field_complaint<std::vector<int>>(plain("1")),
            "a.yaml:2:3: 'x' of Thing: expected a list of integers, found the number 1");
}

TEST(PairCodec, needs_exactly_two_items) {
  using Pair = std::pair<int, double>;
  EXPECT_EQ(value_of<Pair>(ConfigNode::list({10, 0.5})), Pair(10, 0.5));
  EXPECT_EQ(field_complaint<Pair>(ConfigNode::list({1, 2, 3}, at(2, 3))),
            "a.yaml:2:3: 'x' of Thing: expected a pair [an integer, a number], found a list of 3");
}

TEST(OptionalCodec, takes_null_for_none) {
  EXPECT_EQ(value_of<std::optional<int>>(ConfigNode()), std::nullopt);
  EXPECT_EQ(value_of<std::optional<int>>(plain("4")), 4);
  EXPECT_TRUE(Codec<std::optional<int>>::type().nullable);
  EXPECT_TRUE(Codec<std::optional<int>>::dump(std::nullopt).is_null());
}

TEST(Check, says_which_values_are_legal) {
  EXPECT_EQ(field_complaint<double>(plain("1.5"), between(0, 1)),
            "a.yaml:2:3: 'x' of Thing is 1.5; must be from 0 to 1");
  EXPECT_EQ(field_complaint<int>(plain("0"), at_least(1)),
            "a.yaml:2:3: 'x' of Thing is 0; must be at least 1");
  EXPECT_EQ(field_complaint<double>(plain("0"), above(0)), "a.yaml:2:3: 'x' of Thing is 0; must be above 0");
  EXPECT_EQ(field_complaint<double>(plain("1"), between(0, 1)), "");
}

TEST(Check, rejects_not_a_number_wherever_there_is_a_range) {
  EXPECT_NE(field_complaint<double>(plain(".nan"), between(0, 1)), "");
  EXPECT_NE(field_complaint<double>(plain(".nan"), above(0)), "");
  EXPECT_EQ(field_complaint<double>(plain("1e7"), time_limit()),
            "a.yaml:2:3: 'x' of Thing is 1e7; must be above 0, at most 1e+06");
}

TEST(Ref, keeps_its_place_and_finds_files_next_to_the_config) {
  const auto file = std::make_shared<const std::string>("configs/a.yaml");
  const auto ref = value_of<Ref<Path>>(ConfigNode::string("../data", {file, 3, 1}));
  EXPECT_EQ(ref.position.line, 3);
  EXPECT_EQ(resolved_path(ref), "data");
  EXPECT_EQ(resolved_path({"/abs", {file, 3, 1}}), "/abs");
  EXPECT_EQ(resolved_path({"x", {std::make_shared<const std::string>("--set dir"), 0, 0}}), "x");
}

TEST(UnknownReference, suggests_or_lists) {
  EXPECT_STREQ(unknown_reference("layer or input", "fc2", at(1, 1), {"fc1", "conv0"}).what(),
               "a.yaml:1:1: unknown layer or input 'fc2'; did you mean 'fc1'?");
  EXPECT_STREQ(unknown_reference("flow", "validation", {}, {"train"}).what(),
               "unknown flow 'validation'; known: train");
  EXPECT_STREQ(unknown_reference("hyper-parameter", "rate", {}, {"d/rate", "momentum", "g/rate"}).what(),
               "unknown hyper-parameter 'rate'; did you mean one of 'd/rate', 'g/rate'?");
  EXPECT_STREQ(unknown_reference("flow", "validation", {}, {}).what(),
               "unknown flow 'validation'; none are defined");
}

TEST(FieldType, reads_as_english) {
  EXPECT_EQ(Codec<std::vector<std::vector<double>>>::type().str(), "a list of lists of numbers");
  EXPECT_EQ(Codec<Ref<LayerOutput>>::type().str(), "the name of a layer or input");
  EXPECT_EQ(Codec<std::vector<Ref<LayerOutput>>>::type().str(), "a list of layers or inputs");
  EXPECT_EQ(Codec<Ref<VariablePattern>>::type().str(), "a pattern for variables");
  EXPECT_EQ(Codec<std::vector<Ref<OutputPattern>>>::type().str(), "a list of patterns for layers or inputs");
  EXPECT_EQ((FieldType{.base = FieldType::Base::kComponent, .of = "initializer"}).str(), "an initializer");
}

}  // namespace
}  // namespace tpack
