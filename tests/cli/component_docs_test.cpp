#include "cli/component_docs.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(ComponentDocs, leave_the_ops_of_the_graph_out) {
  const auto kinds = documented_kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "op"), 0);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "layer"), 1);
}

TEST(ComponentDocs, find_components_by_alias) {
  EXPECT_EQ(components_named("SimpleTrainer").at(0)->name, "Simple");
  EXPECT_THROW(components_named("Conv3D"), ConfigError);
}

TEST(ComponentDocs, name_the_file_of_a_component) {
  EXPECT_EQ(source_file(*components_named("Conv2D").at(0)), "lib/layers/conv2d.cpp");
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

}  // namespace
}  // namespace tpack
