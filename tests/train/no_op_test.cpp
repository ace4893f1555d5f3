#include <gtest/gtest.h>

#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

TEST(NoOp, changes_nothing_but_counts_steps_and_runs_callbacks) {
  SmallTraining training("NoOp");
  const auto before = variables_of(training.trainer());
  int triggers = 0;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.add("count", std::make_unique<FunctionCallback>(nullptr, [&](tpack::Run& here) {
            ++triggers;
            EXPECT_EQ(here.global_step(), 3 * triggers);
          }));
  run.go();
  EXPECT_EQ(triggers, 2);
  expect_bit_equal(variables_of(training.trainer()), before);
}

TEST(NoOp, has_the_model_on_its_device_and_the_length_of_the_data) {
  SmallTraining training("NoOp");
  ASSERT_TRUE(training.trainer().tower_place());
  EXPECT_EQ(training.trainer().steps_per_pass(), 5);
  EXPECT_THROW(SmallTraining("NoOp: {device: cpu:3}"), ConfigError);
}

TEST(NoOp, keeps_its_variables_in_checkpoints) {
  SmallTraining one("NoOp");
  one.trainer().variables()->value("fc1/b").data<float>()[0] = 42;
  CheckpointContent content;
  one.trainer().save(content);
  SmallTraining other("NoOp");
  other.trainer().load(content, "model-0.h5");
  expect_bit_equal(variables_of(other.trainer()), variables_of(one.trainer()));
}

TEST(NoOp, needs_no_section) {
  const Trainer::Needs needs = Registry<Trainer>::make("NoOp")->needs();
  EXPECT_FALSE(needs.data || needs.model || needs.optimizer);
}

const live::Fields kNoOp("trainer", "NoOp", {.values = {{"device", "apart:0"}}});

}  // namespace
}  // namespace tpack
