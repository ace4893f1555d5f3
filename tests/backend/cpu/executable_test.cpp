#include "backend/cpu/executable.h"

#include <gtest/gtest.h>

#include "backend/device.h"
#include "graph/builder.h"
#include "ops/convolution.h"

namespace tpack {
namespace {

class CpuExecutableTest : public testing::Test {
 protected:
  VariableTable table_;
  std::unique_ptr<Device> device_ =
      make_cpu_device("cpu:0", {.algorithm = DeviceOptions::Algorithm::kDirect, .threads = 1});
  PlanSection section_;

  VariableSpec number(const std::string& name) {
    return {name, {DType::kFloat32, {4}}, VariableScope::kModel, false, nullptr};
  }
  Tensor value(const std::string& name) { return device_->variables().tensor(name); }
  void set(const std::string& name, const std::vector<float>& values) {
    std::copy(values.begin(), values.end(), value(name).data<float>());
  }
};

TEST_F(CpuExecutableTest, updates_a_variable_in_place) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol v = b.variable(number("v"));
  b.assign("v", b.add(b.mul(v, 2.0), 1.0));
  device_->create_variables(table_);
  set("v", {1, 2, 3, 4});
  device_->compile(graph, section_)->run({}, {});
  EXPECT_TRUE(bit_equal(value("v"), Tensor::of<float>({4}, {3, 5, 7, 9})));
}

TEST_F(CpuExecutableTest, reads_see_the_values_at_the_start) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol a = b.variable(number("a"));
  const Symbol c = b.variable(number("c"));
  b.assign("a", c);  // a swap
  b.assign("c", a);
  b.fetch("old", a);
  device_->create_variables(table_);
  set("a", {1, 1, 1, 1});
  set("c", {2, 2, 2, 2});
  const auto executable = device_->compile(graph, section_);
  executable->run({}, {});
  EXPECT_EQ(value("a").at(0), 2);
  EXPECT_EQ(value("c").at(0), 1);
  EXPECT_EQ(executable->fetched(0).at(0), 1);
}

TEST_F(CpuExecutableTest, does_not_overwrite_a_variable_that_is_read_later) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol v = b.variable(number("v"));
  const Symbol sum = b.reduce_sum(v);
  b.assign("v", b.mul(v, 0.0));
  b.fetch("y", b.mul(b.exp(sum), b.reduce_sum(b.square(v))));
  device_->create_variables(table_);
  set("v", {1, 0, 0, 1});
  const auto executable = device_->compile(graph, section_);
  executable->run({}, {});
  EXPECT_NEAR(executable->fetched(0).at(0), 2 * std::exp(2.0), 1e-5);
  EXPECT_EQ(value("v").at(3), 0);
}

TEST_F(CpuExecutableTest, executables_of_one_device_share_an_arena_and_keep_their_fetches) {
  const auto graph_for = [&](int64_t batch) {
    Graph graph;
    Builder b(graph, table_, {});
    const Symbol x = b.input("x", {DType::kFloat32, {batch, 3, 8, 8}});
    const Symbol w = b.input("w", {DType::kFloat32, {4, 3, 3, 3}});
    b.fetch("y", b.reduce_sum(b.exp(convolution(b, x, w, {}))));
    return graph;
  };
  device_->create_variables(table_);
  const auto small = device_->compile(graph_for(1), section_);
  const Tensor w = Tensor::zeros({DType::kFloat32, {4, 3, 3, 3}});
  small->run(std::vector{Tensor::zeros({DType::kFloat32, {1, 3, 8, 8}}), w}, {});
  PlanSection other;
  const auto large = device_->compile(graph_for(7), other);
  large->run(std::vector{Tensor::zeros({DType::kFloat32, {7, 3, 8, 8}}), w}, {});
  EXPECT_EQ(small->fetched(0).at(0), 4 * 36);
  small->run(std::vector{Tensor::zeros({DType::kFloat32, {1, 3, 8, 8}}), w}, {});
  EXPECT_EQ(small->fetched(0).at(0), 4 * 36);
  EXPECT_EQ(large->fetched(0).at(0), 7 * 4 * 36);
}

TEST_F(CpuExecutableTest, refuses_a_plan_for_another_number_of_threads) {
  Graph graph;
  Builder b(graph, table_, {});
  b.fetch("y", b.exp(b.input("x", {DType::kFloat32, {4}})));
  device_->create_variables(table_);
  PlanSection planned{.threads = 3};
  EXPECT_THROW(device_->compile(graph, planned), ConfigError);
}

TEST_F(CpuExecutableTest, times_nodes_where_asked) {
  Graph graph;
  Builder b(graph, table_, {});
  b.fetch("y", b.exp(b.input("x", {DType::kFloat32, {4}})));
  device_->create_variables(table_);
  const auto executable = device_->compile(graph, section_);
  executable->profile(true);
  executable->run(std::vector{Tensor::of<float>({4}, {0, 1, 2, 3})}, {});
  ASSERT_EQ(executable->times().size(), 1U);
  EXPECT_EQ(executable->times()[0].kind, "Sweep");
  EXPECT_GT(executable->times()[0].seconds, 0);
}

}  // namespace
}  // namespace tpack
