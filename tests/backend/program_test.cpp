#include "backend/program.h"

#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "graph/builder.h"
#include "support/watched_device.h"

namespace tpack {
namespace {

/// y = 2 x; counts how often it is built.
Program::Build doubling(VariableTable& table, size_t* builds = nullptr) {
  return [&table, builds](const Signature& fed) {
    if (builds != nullptr) ++*builds;
    Graph graph;
    Builder b(graph, table, {});
    b.fetch("y", b.mul(b.input("x", fed[0]), 2.0));
    return graph;
  };
}

TEST(Program, compiles_once_for_each_signature) {
  const auto device = make_reference_device("reference", {});
  VariableTable table;
  device->create_variables(table);
  Plan plan;
  size_t builds = 0;
  Program program("double", *device, plan, doubling(table, &builds));
  const std::vector<Tensor> three = {Tensor::of<float>({3}, {1, 2, 3})};
  const std::vector<Tensor> two = {Tensor::of<float>({2}, {5, 6})};
  EXPECT_EQ(program.run(three, {}).fetched(0).at(2), 6);
  EXPECT_EQ(program.run(two, {}).fetched(0).at(0), 10);
  EXPECT_EQ(program.run(three, {}).fetched(program.fetch_index("y")).at(0), 2);
  EXPECT_EQ(builds, 2U);
  EXPECT_EQ(plan.sections.size(), 1U) << "the second one was chosen by rules";
  EXPECT_TRUE(plan.sections.contains("double float32 [3]"));
}

TEST(Program, chooses_by_rules_for_what_it_meets_late) {
  std::vector<std::string> compiled;
  WatchedDevice device(make_reference_device("reference", {}),
                       [&](const std::string& how) { compiled.push_back(how); });
  VariableTable table;
  device.create_variables(table);
  Plan plan;
  Program program("double", device, plan, doubling(table));
  for (const int64_t n : {3, 2, 3, 1}) program.run(std::vector{Tensor::zeros({DType::kFloat32, {n}})}, {});
  EXPECT_THAT(compiled, testing::ElementsAre("measured", "by rules", "by rules"));
}

TEST(Program, chooses_by_rules_if_the_plan_has_another_signature) {
  std::vector<std::string> compiled;
  WatchedDevice device(make_reference_device("reference", {}),
                       [&](const std::string& how) { compiled.push_back(how); });
  VariableTable table;
  device.create_variables(table);
  Plan plan;
  plan.sections["double float32 [3]"] = {.pieces = 1};
  Program program("double", device, plan, doubling(table));
  program.run(std::vector{Tensor::zeros({DType::kFloat32, {2}})}, {});
  EXPECT_THAT(compiled, testing::ElementsAre("by rules"));
}

TEST(Program, keeps_a_bounded_number_of_what_it_meets_late) {
  const auto device = make_reference_device("reference", {});
  VariableTable table;
  device->create_variables(table);
  Plan plan;
  size_t builds = 0;
  Program program("double", *device, plan, doubling(table, &builds));
  const auto run = [&](size_t n) {
    const Tensor x = Tensor::zeros({DType::kFloat32, {static_cast<int64_t>(n)}});
    EXPECT_EQ(program.run(std::vector{x}, {}).fetched(0).elements(), x.elements());
  };
  run(1);
  for (size_t n = 2; n <= Program::kMaxByRules + 2; ++n) {
    run(n);
    run(2);  // used all the time
  }
  EXPECT_EQ(builds, Program::kMaxByRules + 2);
  run(1);
  run(2);
  run(Program::kMaxByRules + 2);
  EXPECT_EQ(builds, Program::kMaxByRules + 2) << "these are kept";
  run(3);
  EXPECT_EQ(builds, Program::kMaxByRules + 3) << "used least";
  EXPECT_EQ(plan.sections.size(), 1U);
}

TEST(Program, names_the_file_of_a_plan_that_cannot_be_followed) {
  const auto device = open_device("cpu:0", DeviceOptions{});
  VariableTable table;
  device->create_variables(table);
  Plan plan = Plan::from_json(
      R"({"tpack_plan": 2, "cpu": "", "sections": {"double float32 [3]": {"pieces": 9, "nodes": {"a": {"layout": "nhwc", "algorithm": ""}}}}})",
      "p.json");
  plan.remedy = "make another";
  Program program("double", *device, plan, doubling(table));
  try {
    program.compile({{DType::kFloat32, {3}}});
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("p.json: section 'double float32 [3]': the plan names node a, which the "
                                 "program does not have"))
        << error.what();
  }
}

}  // namespace
}  // namespace tpack
