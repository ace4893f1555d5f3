#include "reports/json_schema.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "experiment/experiment_config.h"

namespace tpack {
namespace {

using nlohmann::json;

TEST(JsonSchema, has_every_section) {
  const json schema = json::parse(json_schema());
  const Schema<ExperimentConfig> sections = experiment_schema();
  for (const FieldInfo& field : sections.fields()) {
    EXPECT_EQ(schema.at("properties").at(field.name).at("description"), field.doc) << field.name;
  }
  EXPECT_EQ(schema.at("additionalProperties"), false);
}

TEST(JsonSchema, knows_what_flows_and_init_may_say) {
  const json schema = json::parse(json_schema());
  const json& ways = schema.at("properties").at("data").at("additionalProperties").at("anyOf");
  ASSERT_EQ(ways.size(), 3U) << "a list, a name, settings";
  EXPECT_EQ(ways[0].at("items").at("$ref"), "#/$defs/source_or_map_or_stage");
  const json flow = ways[2].at("properties");
  EXPECT_EQ(flow.at("prefetch").at("anyOf")[0].at("minimum"), 1);
  EXPECT_TRUE(flow.contains("on_error"));
  EXPECT_TRUE(schema.at("properties").at("init").at("anyOf")[0].at("properties").contains("from"));
}

TEST(JsonSchema, every_reference_has_its_definition) {
  const json schema = json::parse(json_schema());
  int references = 0;
  const std::function<void(const json&)> visit = [&](const json& node) {
    if (node.is_object() && node.contains("$ref")) {
      const std::string target = node.at("$ref").get<std::string>();
      EXPECT_TRUE(schema.at("$defs").contains(target.substr(std::string("#/$defs/").size()))) << target;
      ++references;
    }
    if (node.is_structured()) {
      for (const json& child : node) visit(child);
    }
  };
  visit(schema);
  EXPECT_GT(references, 10);
}

TEST(JsonSchema, knows_aliases) {
  const json trainer = json::parse(json_schema()).at("$defs").at("trainer");
  EXPECT_TRUE(trainer.at("anyOf")[1].at("properties").contains("HorovodTrainer"));
  const json& names = trainer.at("anyOf")[0].at("enum");
  EXPECT_NE(std::find(names.begin(), names.end(), "SimpleTrainer"), names.end());
}

TEST(JsonSchema, ranges_and_docs_come_from_the_component) {
  const json layer = json::parse(json_schema()).at("$defs").at("layer");
  const json rate =
      layer.at("anyOf")[1].at("properties").at("Dropout").at("then").at("properties").at("rate");
  EXPECT_EQ(rate.at("anyOf")[0].at("maximum"), 1);
  EXPECT_FALSE(rate.at("description").get<std::string>().empty());
}

TEST(JsonSchema, a_shorthand_may_be_a_map) {
  const json item = json::parse(json_schema()).at("$defs").at("source_or_map_or_stage").at("anyOf")[1];
  const json ways = item.at("properties").at("Compute").at("then").at("anyOf");
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_TRUE(ways[0].at("properties").contains("components"));
  EXPECT_TRUE(ways[1].at("additionalProperties").contains("anyOf")) << "{NAME: expression}";
}

}  // namespace
}  // namespace tpack
