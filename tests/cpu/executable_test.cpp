#include "backend/engine/executable.h"

#include <thread>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "cpu/convolution/winograd.h"
#include "cpu/library.h"
#include "cpu/team.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "ops/pad.h"
#include "ops/pooling.h"
#include "support/allocation_counter.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

class CpuExecutableTest : public testing::Test {
 protected:
  VariableTable table_;
  std::unique_ptr<Device> device_ =
      open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect, .threads = 1});
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

TEST_F(CpuExecutableTest, a_part_of_a_flat_block_is_read_before_the_block_changes) {
  table_.declare({"w", {DType::kFloat32, {4}}, VariableScope::kModel, true, nullptr});
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol w = b.variable(*table_.find("w"));
  const Symbol all =
      b.read("@parameters", {DType::kFloat32, {flat_layout(table_, table_.groups().front()).size}});
  b.assign("@parameters", b.mul(all, 0.0));
  b.fetch("y", b.exp(w));
  device_->create_variables(table_);
  set("w", {1, 1, 1, 1});
  const auto executable = device_->compile(graph, section_);
  executable->run({}, {});
  EXPECT_NEAR(executable->fetched(0).at(0), std::exp(1.0), 1e-6);
  EXPECT_EQ(value("w").at(0), 0);
}

TEST_F(CpuExecutableTest, one_value_may_be_assigned_to_several_variables) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {4}});
  b.variable(number("a"));
  b.variable(number("c"));
  const Symbol sum = b.add(x, x);
  b.assign("a", sum);
  b.assign("c", sum);
  device_->create_variables(table_);
  const auto executable = device_->compile(graph, section_);
  for (const float step : {1.0F, 2.0F}) {
    const std::vector<Tensor> inputs = {Tensor::of<float>({4}, {step, step, step, step})};
    executable->run(inputs, {});
    EXPECT_EQ(value("a").at(3), 2 * step);
    EXPECT_EQ(value("c").at(3), 2 * step) << "not what `a` was before";
  }
}

TEST_F(CpuExecutableTest, a_part_of_a_batch_is_not_copied) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {6, 16}});
  b.variable({"v", {DType::kFloat32, {2, 16}}, VariableScope::kModel, false, nullptr});
  const Symbol middle = slice(b, b.mul(x, 2.0), {2, 0}, {2, 16});
  const Symbol of_input = slice(b, x, {4, 0}, {2, 16});
  const Symbol columns = slice(b, x, {0, 8}, {6, 8});
  b.assign("v", middle);
  b.fetch("sum", b.add(middle, of_input));
  b.fetch("part", of_input);
  b.fetch("columns", b.exp(columns));
  device_->create_variables(table_);
  const auto executable = device_->compile(graph, section_);
  const std::vector<Tensor> inputs = {testkit::random_tensor({6, 16}, 1, DType::kFloat32)};
  executable->run(inputs, {});
  const Tensor& given = inputs[0];
  for (int64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(value("v").at(i), 2 * given.at(32 + i));
    EXPECT_EQ(executable->fetched(0).at(i), static_cast<float>(2 * given.at(32 + i) + given.at(64 + i)));
    EXPECT_EQ(executable->fetched(1).at(i), given.at(64 + i));
  }
  std::vector<std::string> slices;
  for (const NodeTime& time : executable->times()) {
    if (time.kind == "Slice") slices.push_back(time.path);
  }
  EXPECT_EQ(slices.size(), 1U) << "only the columns are copied";
}

TEST_F(CpuExecutableTest, counts_the_bytes_and_runs_of_kernels) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kUInt8, {10, 3}});
  const Symbol v = b.variable({"v", {DType::kFloat32, {3}}, VariableScope::kModel, false, nullptr});
  b.fetch("y", b.mul(b.to_float(x), v));
  device_->create_variables(table_);
  const auto executable = device_->compile(graph, section_);
  const std::vector<Tensor> inputs = {Tensor::zeros({DType::kUInt8, {10, 3}})};
  for (const bool profiled : {false, true, true, false}) {
    executable->profile(profiled);
    executable->run(inputs, {});
  }
  const std::vector<NodeTime> times = executable->times();
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].runs, 2);
  EXPECT_EQ(times[0].bytes, 30 + 12 + 120);
}

TEST_F(CpuExecutableTest, an_input_that_nothing_needs_is_fed_all_the_same) {
  Graph graph;
  Builder b(graph, table_, {});
  b.input("unused", {DType::kUInt8, {2}});
  const Symbol x = b.input("x", {DType::kFloat32, {1}});
  b.fetch("y", b.exp(x));
  device_->create_variables(table_);
  const auto executable = device_->compile(graph, section_);
  const std::vector<Tensor> inputs = {Tensor(TensorSpec{DType::kUInt8, {2}}), Tensor::of<float>({1}, {0})};
  executable->run(inputs, {});
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

/// The results of a network with every kind of kernel that is cut into pieces (convolutions in all directions
/// and layouts, products, sweeps with reductions, pooling, reorders) on a number of threads, with the choices
/// of `section`.
std::vector<Tensor> compute_on(int threads, PlanSection& section) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {7, 16, 12, 12}});
  const Symbol w = b.input("w", {DType::kFloat32, {16, 16, 3, 3}});
  const Symbol v = b.input("v", {DType::kFloat32, {16 * 36, 200}});
  const Symbol y = convolution(b, x, w, {.padding = {1, 1, 1, 1}});
  const Symbol pooled = max_pool(b, b.max(y, 0.0), {.window = {2, 2}, .stride = {2, 2}});
  const Symbol scores = matmul(b, b.reshape(pooled, {7, 16 * 36}), v);
  const Symbol cost = b.reduce_sum(b.mul(scores, scores));
  const std::vector<Symbol> gradient = gradients(b, cost, std::vector{x, w, v});
  b.fetch("cost", cost);
  for (size_t i = 0; i < gradient.size(); ++i) b.fetch("gradient" + std::to_string(i), gradient[i]);
  const auto device = open_device(
      "cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic, .threads = threads});
  device->create_variables(table);
  const auto executable = device->compile(graph, section);
  executable->run(std::vector{testkit::random_tensor({7, 16, 12, 12}, 1, DType::kFloat32),
                              testkit::random_tensor({16, 16, 3, 3}, 2, DType::kFloat32),
                              testkit::random_tensor({16 * 36, 200}, 3, DType::kFloat32)},
                  {});
  std::vector<Tensor> results;
  for (size_t i = 0; i < 1 + gradient.size(); ++i) results.push_back(executable->fetched(i).clone());
  return results;
}

TEST(CpuThreads, of_any_number_give_the_same_bits_for_one_plan) {
  for (const int pieces : {2, 3, 5}) {
    for (const auto& [layout, algorithm] :
         {std::pair("nhwc", "direct"), std::pair("nChw16c", "direct"), std::pair("nChw16c", "winograd-tiled"),
          std::pair("nChw16c", "winograd")}) {
      if (algorithm == std::string("winograd") && !cpu::onednn_winograd_fits({})) continue;
      PlanSection section{.pieces = pieces};
      compute_on(1, section);
      for (auto& [node, choice] : section.nodes) {
        choice.layout = layout;
        if (!choice.algorithm.empty()) choice.algorithm = algorithm;
      }
      const std::vector<Tensor> alone = compute_on(1, section);
      for (const int threads : {2, 3, 4}) {
        const std::vector<Tensor> together = compute_on(threads, section);
        for (size_t i = 0; i < alone.size(); ++i)
          EXPECT_TRUE(bit_equal(alone[i], together[i]))
              << algorithm << ", pieces " << pieces << ", result " << i;
      }
      EXPECT_EQ(section.pieces, pieces);
    }
  }
}

TEST(CpuThreads, cut_a_new_plan_into_as_many_pieces) {
  PlanSection section;
  compute_on(3, section);
  EXPECT_EQ(section.pieces, 3);
  EXPECT_TRUE(section.chosen);
}

TEST_F(CpuExecutableTest, works_again_after_a_reservation_that_failed) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer ends the program instead";
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2, 2}});
  b.fetch("y", matmul(b, matmul(b, x, x), x));
  auto arena = std::make_shared<Arena>();
  VariableStore variables(table_);
  section_.pieces = 1;
  const auto executable = make_executable(lower(graph, section_, variables, *cpu::make_library()), variables,
                                          arena, std::make_shared<cpu::Team>(1));
  const std::vector<Tensor> fed = {Tensor::of<float>({2, 2}, {1, 1, 0, 2})};
  executable->run(fed, {});
  const int before = arena->generation;
  try {
    arena->reserve(uint64_t{1} << 60);
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("1152921.5 TB"), std::string::npos) << error.what();
  }
  EXPECT_NE(arena->generation, before);  // the old addresses may not be used
  executable->run(fed, {});
  EXPECT_TRUE(bit_equal(executable->fetched(0), Tensor::of<float>({2, 2}, {1, 7, 0, 8})));
}

TEST_F(CpuExecutableTest, runs_on_any_thread) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {4, 16, 12, 12}});
  const Symbol w = b.input("w", {DType::kFloat32, {16, 16, 3, 3}});
  b.fetch("y", convolution(b, x, w, {}));
  const auto device =
      open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect, .threads = 2});
  device->create_variables(table_);
  const auto executable = device->compile(graph, section_);
  const std::vector<Tensor> fed = {testkit::random_tensor({4, 16, 12, 12}, 1, DType::kFloat32),
                                   testkit::random_tensor({16, 16, 3, 3}, 2, DType::kFloat32)};
  executable->run(fed, {});
  const Tensor here = executable->fetched(0).clone();
  const std::vector<Tensor> zeros = {Tensor::zeros(fed[0].spec()), fed[1]};
  executable->run(zeros, {});
  ASSERT_FALSE(bit_equal(executable->fetched(0), here));
  std::thread([&] { executable->run(fed, {}); }).join();
  EXPECT_TRUE(bit_equal(executable->fetched(0), here));
}

TEST_F(CpuExecutableTest, tells_when_gradients_are_there_while_backward_goes_on) {
  Graph graph;
  Builder b(graph, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {4, 16, 12, 12}});
  std::vector<Symbol> w;
  for (const char* name : {"w0", "w1", "w2"}) {
    const TensorSpec spec{DType::kFloat32, {16, 16, 3, 3}};
    w.push_back(b.variable({name, spec, VariableScope::kModel, false}));
    b.variable({std::string("d") + name, spec, VariableScope::kModel, false});
  }
  Symbol y = x;
  for (const Symbol weights : w) y = b.max(convolution(b, y, weights, {.padding = {1, 1, 1, 1}}), 0.0);
  const std::vector<Symbol> gradient = gradients(b, b.reduce_sum(b.mul(y, y)), w);
  for (size_t i = 0; i < w.size(); ++i) b.assign("dw" + std::to_string(i), gradient[i]);
  const auto device = open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic});
  device->create_variables(table_);
  for (size_t i = 0; i < w.size(); ++i)
    device->variables().set("w" + std::to_string(i),
                            testkit::random_tensor({16, 16, 3, 3}, i, DType::kFloat32));
  const auto executable = device->compile(graph, section_);
  std::vector<size_t> reached;
  std::vector<Tensor> seen;
  bool first_is_early = false;
  const AssignmentWatch watch{
      {{"dw2"}, {"dw1"}, {"dw0"}}, [&](size_t set) {
        reached.push_back(set);
        seen.push_back(device->variables().tensor("dw" + std::to_string(2 - set)).clone());
        if (set == 0) first_is_early = device->variables().tensor("dw0").at(0) == 0;
      }};
  executable->watch(&watch);
  executable->run(std::vector{testkit::random_tensor({4, 16, 12, 12}, 9, DType::kFloat32)}, {});
  EXPECT_EQ(reached, (std::vector<size_t>{0, 1, 2}));
  EXPECT_TRUE(first_is_early);
  for (size_t i = 0; i < 3; ++i) {
    const Tensor now = device->variables().tensor("dw" + std::to_string(2 - i));
    EXPECT_NE(now.at(0), 0);
    EXPECT_TRUE(bit_equal(seen[i], now)) << i;
  }
}

TEST_F(CpuExecutableTest, times_nodes_if_requested) {
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

/// Predictions of a convolution whose weights are packed, next to what changes them.
class KeptConstants : public CpuExecutableTest {
 protected:
  KeptConstants() {
    Builder b(prediction_, table_, {});
    const Symbol w =
        b.variable({"w", {DType::kFloat32, {16, 16, 3, 3}}, VariableScope::kModel, false, nullptr});
    const Symbol x = b.input("x", {DType::kFloat32, {1, 16, 4, 4}});
    b.fetch("y", b.reduce_sum(convolution(b, x, b.mul(w, 2.0), {}), {0, 1, 2, 3}, Builder::Keep::kNo));
    Builder doubling(change_, table_, {});
    doubling.assign("w", doubling.mul(doubling.read("w", w.spec()), 2.0));
    device_->create_variables(table_);
    set_all(1);
  }

  void set_all(float number) {
    Tensor w(TensorSpec{DType::kFloat32, {16, 16, 3, 3}});
    std::fill_n(w.data<float>(), w.elements(), number);
    device_->variables().set("w", w);
  }
  /// 16 filters with 144 weights each, at 4 places.
  static double result_of(double weight) { return 2 * weight * 16 * 144 * 4; }
  static double run(Executable& executable) {
    Tensor x(TensorSpec{DType::kFloat32, {1, 16, 4, 4}});
    std::fill_n(x.data<float>(), x.elements(), 1.0F);
    executable.run(std::vector{x}, {});
    return executable.fetched(0).at(0);
  }
  /// How many kernels one more run does not run.
  static int kept_kernels(Executable& executable) {
    executable.profile(true);
    const std::vector<NodeTime> before = executable.times();
    run(executable);
    const std::vector<NodeTime> after = executable.times();
    executable.profile(false);
    int idle = 0;
    for (size_t i = 0; i < after.size(); ++i) idle += after[i].seconds == before[i].seconds ? 1 : 0;
    return idle;
  }

  Graph prediction_;
  Graph change_;
};

TEST_F(KeptConstants, are_computed_once) {
  const auto executable = device_->compile(prediction_, section_);
  EXPECT_EQ(run(*executable), result_of(1));
  EXPECT_GE(kept_kernels(*executable), 2) << "the doubled weights, and packed ones";
  EXPECT_EQ(run(*executable), result_of(1));
}

TEST_F(KeptConstants, follow_a_variable_that_is_set) {
  const auto executable = device_->compile(prediction_, section_);
  run(*executable);
  set_all(3);
  EXPECT_EQ(run(*executable), result_of(3));
  EXPECT_GE(kept_kernels(*executable), 2);
}

TEST_F(KeptConstants, follow_a_program_that_changes_a_variable) {
  const auto executable = device_->compile(prediction_, section_);
  run(*executable);
  PlanSection section;
  const auto change = device_->compile(change_, section);
  change->run({}, {});
  EXPECT_EQ(run(*executable), result_of(2));
  change->run({}, {});
  EXPECT_EQ(run(*executable), result_of(4));
}

TEST_F(KeptConstants, take_no_memory_where_variables_change) {
  PlanSection section;
  const uint64_t kept = device_->compile(prediction_, section)->report().constant_bytes;
  device_->compile(change_, section_);
  PlanSection again;
  EXPECT_LT(device_->compile(prediction_, again)->report().constant_bytes, kept);
}

TEST_F(KeptConstants, survive_other_programs_of_the_device) {
  const auto executable = device_->compile(prediction_, section_);
  run(*executable);
  Graph other;
  Builder b(other, table_, {});
  b.fetch("z", b.reduce_sum(b.exp(b.exp(b.input("x", {DType::kFloat32, {50000}})))));
  PlanSection section;
  const auto larger = device_->compile(other, section);
  larger->run(std::vector{Tensor::zeros({DType::kFloat32, {50000}})}, {});
  EXPECT_EQ(run(*executable), result_of(1));
}

}  // namespace
}  // namespace tpack
