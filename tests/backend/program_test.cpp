#include "backend/program.h"

#include <gmock/gmock.h>

#include "graph/builder.h"
#include "support/watched_device.h"

namespace tpack {
namespace {

TEST(Program, compiles_once_for_each_signature) {
  const auto device = make_reference_device("reference", {});
  VariableTable table;
  device->create_variables(table);
  Plan plan;
  int builds = 0;
  Program program("double", *device, plan, [&](const Signature& fed) {
    ++builds;
    Graph graph;
    Builder b(graph, table, {});
    b.fetch("y", b.mul(b.input("x", fed[0]), 2.0));
    return graph;
  });
  const std::vector<Tensor> three = {Tensor::of<float>({3}, {1, 2, 3})};
  const std::vector<Tensor> two = {Tensor::of<float>({2}, {5, 6})};
  EXPECT_EQ(program.run(three, {}).fetched(0).at(2), 6);
  EXPECT_EQ(program.run(two, {}).fetched(0).at(0), 10);
  EXPECT_EQ(program.run(three, {}).fetched(program.fetch_index("y")).at(0), 2);
  EXPECT_EQ(builds, 2);
  EXPECT_EQ(plan.sections.size(), 2U);
  EXPECT_TRUE(plan.sections.contains("double float32 [3]"));
}

TEST(Program, chooses_by_rules_for_what_it_meets_late) {
  std::vector<std::string> compiled;
  WatchedDevice device(make_reference_device("reference", {}),
                       [&](const std::string& how) { compiled.push_back(how); });
  VariableTable table;
  device.create_variables(table);
  Plan plan;
  Program program("double", device, plan, [&](const Signature& fed) {
    Graph graph;
    Builder b(graph, table, {});
    b.fetch("y", b.mul(b.input("x", fed[0]), 2.0));
    return graph;
  });
  for (const int64_t n : {3, 2, 3, 1}) program.run(std::vector{Tensor::zeros({DType::kFloat32, {n}})}, {});
  EXPECT_THAT(compiled, testing::ElementsAre("measured", "by rules", "by rules"));
}

TEST(Program, names_the_file_of_a_plan_that_cannot_be_followed) {
  const auto device = make_cpu_device("cpu:0", {});
  VariableTable table;
  device->create_variables(table);
  Plan plan = Plan::from_json(
      R"({"tpack_plan": 2, "cpu": "", "sections": {"double float32 [3]": {"pieces": 9, "nodes": {"a": {"layout": "nhwc", "algorithm": ""}}}}})",
      "p.json");
  plan.remedy = "make another";
  Program program("double", *device, plan, [&](const Signature& fed) {
    Graph graph;
    Builder b(graph, table, {});
    b.fetch("y", b.mul(b.input("x", fed[0]), 2.0));
    return graph;
  });
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
