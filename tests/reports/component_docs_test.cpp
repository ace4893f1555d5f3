#include "reports/component_docs.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(ComponentDocs, leave_the_ops_of_the_graph_out) {
  const auto kinds = documented_kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "op"), 0);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "layer"), 1);
}

TEST(ComponentDocs, find_components_by_alias) {
  EXPECT_EQ(components_named("SimpleTrainer").at(0)->name, "Simple");
  EXPECT_THROW(components_named("Conv2X"), ConfigError);
}

TEST(ComponentDocs, know_sections_by_the_end_of_their_path) {
  EXPECT_EQ(describe_section("GAN"), describe_section("updates.GAN"));
  EXPECT_NE(describe_section("GAN"), "");
  EXPECT_EQ(describe_section("joint"), "") << "a setting, not a section";
  EXPECT_EQ(describe_section("NAME"), "") << "of many sections";
}

TEST(ComponentDocs, name_the_file_of_a_component) {
  EXPECT_EQ(source_file(*components_named("Conv2D").at(0)), "lib/layers/conv2d.cpp");
}

/// The tests that change every field of a kind's components and look for a difference (live::dead_fields).
TEST(ComponentDocs, every_kind_has_a_test_of_its_options) {
  const std::map<std::string, std::string> tests = {{"augmentor", "image/augment/augmentor_test.cpp"},
                                                    {"callback", "callbacks/callback_fields_test.cpp"},
                                                    {"cost", "model/cost_fields_test.cpp"},
                                                    {"environment", "environment/environment_test.cpp"},
                                                    {"gradient processor", "optim/optimizer_test.cpp"},
                                                    {"initializer", "model/layer_test.cpp"},
                                                    {"input source", "input/input_source_fields_test.cpp"},
                                                    {"layer", "model/layer_test.cpp"},
                                                    {"map", "dataflow/make_flow_test.cpp"},
                                                    {"metric", "model/cost_fields_test.cpp"},
                                                    {"monitor", "monitor/monitor_fields_test.cpp"},
                                                    {"optimizer", "optim/optimizer_test.cpp"},
                                                    {"schedule", "optim/optimizer_test.cpp"},
                                                    {"source", "dataflow/make_flow_test.cpp"},
                                                    {"stage", "dataflow/make_flow_test.cpp"},
                                                    {"tensor map", "dataflow/make_flow_test.cpp"},
                                                    {"trainer", "train/trainer_fields_test.cpp"}};
  for (const std::string& kind : documented_kinds()) {
    ASSERT_TRUE(tests.contains(kind)) << "no test changes the options of every " << kind;
    std::string type;  // "gradient processor" is a GradientProcessor
    for (size_t i = 0; i < kind.size(); ++i) {
      const bool begins = i == 0 || kind[i - 1] == ' ';
      if (kind[i] != ' ') type += begins ? static_cast<char>(std::toupper(kind[i])) : kind[i];
    }
    const std::string text = content_of(source_folder() + "/tests/" + tests.at(kind));
    EXPECT_NE(text.find("dead_fields(Registry<" + type + ">::table()"), std::string::npos) << kind;
  }
}

TEST(ComponentDocs, every_component_describes_itself) {
  for (const std::string& kind : documented_kinds()) {
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
      EXPECT_TRUE(info->summary().ends_with('.')) << info->name << ": " << info->summary();
      for (const FieldInfo& field : info->fields()) {
        EXPECT_FALSE(field.doc.empty()) << info->name << "." << field.name;
        EXPECT_NE(describe(*info).find(field.name), std::string::npos);
      }
    }
  }
}

/// Why the example of a component is none; "" where it is one.
std::string flaw_of_example(const ComponentInfo& info) {
  if (info.fields().empty()) return info.example().empty() ? "" : "has no parameters to show in an example";
  const std::string fix = "; add .example(\"" + info.name + ": {...}\") to its schema";
  if (info.example().empty()) return "has parameters but no example" + fix;
  try {
    const ComponentItem item = component_item(parse_yaml(info.example(), "example"), info.kind);
    if (item.name != info.name || item.params.is_null()) return "has an example of something else" + fix;
    Diagnostics errors;
    info.effective(item.params, info.name, errors);
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return std::string("has an example with an error: ") + error.what();
  }
  return "";
}

TEST(ComponentDocs, every_component_with_parameters_has_an_example) {
  for (const std::string& kind : documented_kinds()) {
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
      if (!source_file(*info).starts_with("lib/")) continue;
      EXPECT_EQ(flaw_of_example(*info), "") << source_file(*info) << ": " << kind << " " << info->name;
    }
  }
}

}  // namespace
}  // namespace tpack
