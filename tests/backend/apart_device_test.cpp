#include "support/apart_device.h"

#include <gmock/gmock-matchers.h>

#include "graph/builder.h"

namespace tpack {
namespace {

/// A program on a device whose kernels run as late as possible: assigns v + x to `v` and fetches exp(x).
class ApartDeviceTest : public testing::Test {
 protected:
  ApartDeviceTest() {
    Builder b(graph_, table_, {});
    const Symbol x = b.input("x", {DType::kFloat32, {2}});
    const Symbol v = b.variable({"v", {DType::kFloat32, {2}}, VariableScope::kModel, false, nullptr});
    b.assign("v", b.add(v, x));
    b.fetch("y", b.exp(x));
    device_->create_variables(table_);
    executable_ = device_->compile(graph_, section_);
  }

  void run(float x) { executable_->run(std::vector{Tensor::of<float>({2}, {x, x})}, {}); }
  /// What the memory has now, without waiting for the device.
  float now() {
    const std::byte* address = device_->variables().tensor("v").address();
    return *reinterpret_cast<const float*>(ApartMemory::shadow(address));
  }
  double value() { return device_->variables().value("v").at(0); }

  VariableTable table_;
  Graph graph_;
  PlanSection section_;
  std::unique_ptr<Device> device_ = make_apart_device("apart:0", {.threads = 1});
  std::unique_ptr<Executable> executable_;
};

TEST_F(ApartDeviceTest, what_reads_a_variable_waits_for_the_run) {
  run(3);
  EXPECT_EQ(now(), 0) << "the run has only been submitted";
  EXPECT_EQ(value(), 3);
}

TEST_F(ApartDeviceTest, each_run_has_its_own_inputs) {
  run(1);
  run(2);
  EXPECT_EQ(value(), 3);
}

TEST_F(ApartDeviceTest, a_fetched_value_is_of_the_last_run) {
  run(0);
  EXPECT_EQ(executable_->fetched(0).at(1), 1);
  run(1);
  EXPECT_FLOAT_EQ(static_cast<float>(executable_->fetched(0).at(1)), std::exp(1.0F));
}

TEST_F(ApartDeviceTest, a_variable_set_after_a_run_keeps_its_value) {
  run(1);
  device_->variables().set("v", Tensor::of<float>({2}, {7, 7}));
  EXPECT_EQ(value(), 7);
}

TEST_F(ApartDeviceTest, progress_is_told_after_the_assignments) {
  std::vector<float> told;
  const AssignmentWatch watch{{{"v"}}, [&](size_t /*set*/) { told.push_back(now()); }};
  executable_->watch(&watch);
  run(1);
  run(2);
  executable_->watch(nullptr);
  EXPECT_THAT(told, testing::ElementsAre(1, 3));
}

TEST_F(ApartDeviceTest, a_profiled_run_waits_for_each_kernel) {
  executable_->profile(true);
  run(5);
  EXPECT_EQ(now(), 5);
  EXPECT_GT(executable_->times().front().seconds, 0);
}

TEST_F(ApartDeviceTest, a_program_that_goes_away_has_finished) {
  run(4);
  executable_.reset();
  EXPECT_EQ(now(), 4);
}

TEST_F(ApartDeviceTest, the_arena_moves_after_the_runs_that_use_it) {
  run(1);
  Graph larger;
  Builder b(larger, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {5000}});
  b.fetch("y", b.reduce_sum(b.exp(b.exp(x))));
  PlanSection section;
  const uint64_t before = device_->arena_bytes();
  const auto other = device_->compile(larger, section);
  EXPECT_GT(device_->arena_bytes(), before);
  EXPECT_EQ(now(), 1);
  run(2);
  EXPECT_EQ(value(), 3);
}

}  // namespace
}  // namespace tpack
