#include "core/formula.h"

#include <gtest/gtest.h>

#include "core/schema.h"

namespace tpack {
namespace {

struct FormulaParams {
  Formula value;
};

Schema<FormulaParams> schema() {
  return Schema<FormulaParams>("Test.").field("value", &FormulaParams::value, "a value").required();
}

FormulaParams parsed(ConfigNode value) {
  return schema().parse(ConfigNode{{"value", std::move(value)}}, "callback Test");
}

TEST(Formula, is_read_from_a_text_or_a_number_and_written_back) {
  const FormulaParams p = parsed("2 * x + 1");
  EXPECT_EQ(p.value.expression().evaluate(MapScope(ConfigNode{{"x", 3}})).as_int(), 7);
  EXPECT_EQ(schema().dump(p).find("value")->text(), "2 * x + 1");
  EXPECT_EQ(parsed(0.5).value.expression().evaluate(MapScope(ConfigNode::map({}))).as_double(), 0.5);
  EXPECT_TRUE(Formula().empty());
}

TEST(Formula, shows_the_place_of_a_mistake) {
  const auto file = std::make_shared<const std::string>("run.yaml");
  try {
    parsed(ConfigNode::string("2 * (x", Position{file, 4, 10}));
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("run.yaml:4:", 0), 0U) << text;
    EXPECT_NE(text.find("'value' of callback Test: "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tpack
