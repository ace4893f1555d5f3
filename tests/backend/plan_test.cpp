#include "backend/plan.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

TEST(Plan, comes_back_from_json) {
  Plan plan;
  plan.hardware = "some cpu";
  plan.sections["backward float32 [2]"] = {
      2, true, {{"conv0/Convolution", {"nChw16c", "winograd"}}, {"bn", {"nhwc", ""}}}};
  EXPECT_EQ(Plan::from_json(plan.to_json(), "plan.json"), plan);
}

std::string complaint(const std::string& text) {
  try {
    Plan::from_json(text, "plan.json");
  } catch (const PlanError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Plan, rejects_what_is_not_a_plan) {
  EXPECT_EQ(complaint(R"({"tpack_plan": 9})"), "plan.json: plan version 9; this build supports 2");
  const auto rejected = [](const std::string& text, const std::string& what) {
    EXPECT_EQ(complaint(text), "plan.json: is not a valid plan (the plan.json of a run folder): " + what)
        << text;
  };
  rejected("[]", "the file is not a map");
  rejected("{}", "'tpack_plan' is missing");
  EXPECT_TRUE(complaint("nonsense")
                  .starts_with("plan.json: is not a valid plan (the plan.json of a run folder): parse"));
  const auto root = [](const std::string& rest) {
    return R"({"tpack_plan": 2, "hardware": "c")" + rest + "}";
  };
  rejected(root(""), "'sections' is missing");
  rejected(root(R"(, "sections": [])"), "'sections' is not a map: []");
  rejected(root(R"(, "sections": {}, "section": 1)"), "unknown key 'section'; did you mean 'sections'?");
  const auto section = [&](const std::string& inside) {
    return root(R"(, "sections": {"f [2]": )" + inside + "}");
  };
  rejected(section("3"), "'sections / f [2]' is not a map: 3");
  rejected(section(R"({"nodes": {}})"), "'sections / f [2] / pieces' is missing");
  for (const char* pieces : {"-2", "0", "1.5", "true", "\"2\"", "65", "5000000000"}) {
    rejected(section(R"({"nodes": {}, "pieces": )" + std::string(pieces) + "}"),
             "'sections / f [2] / pieces' is not a number from 1 to 64: " + std::string(pieces));
  }
  rejected(section(R"({"pieces": 1, "nodes": {}, "algorithm": ""})"),
           "unknown key 'sections / f [2] / algorithm'");
  const auto node = [&](const std::string& choice) {
    return section(R"({"pieces": 1, "nodes": {"a/b": )" + choice + "}}");
  };
  rejected(node(R"({"layout": 1, "algorithm": ""})"),
           "'sections / f [2] / nodes / a/b / layout' is not a string: 1");
  rejected(node(R"({"layout": "nhwc"})"), "'sections / f [2] / nodes / a/b / algorithm' is missing");
  rejected(node(R"({"layout": "nhwc", "algorithm": "", "x": 1})"),
           "unknown key 'sections / f [2] / nodes / a/b / x'");
}

/// As plan.json and checkpoints of versions before 1.1 have it.
TEST(Plan, of_before_is_read) {
  const Plan plan = Plan::from_json(
      R"({"tpack_plan": 2, "cpu": "Acme 1/2/3", "sections": {"f [2]": {"pieces": 2, "nodes": {"a/b": {"layout": "nhwc", "algorithm": "direct"}}}}})",
      "plan.json");
  EXPECT_EQ(plan.hardware, "Acme 1/2/3");
  EXPECT_EQ(plan.sections.at("f [2]").nodes.at("a/b"), (NodeChoice{"nhwc", "direct"}));
  EXPECT_EQ(Plan::from_json(plan.to_json(), "plan.json"), plan);
}

}  // namespace
}  // namespace tpack
