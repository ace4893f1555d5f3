#include <gmock/gmock.h>

#include "config/yaml_reader.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(HyperParamSummary, gives_the_value_that_the_last_step_of_each_epoch_used) {
  FakeTrainer trainer;  // learning rate 0.1
  TestRun run({.max_epoch = 3, .steps_per_epoch = 2}, trainer);
  run.add("ScheduledHyperParamSetter",
          parse_yaml("{param: learning_rate, values: [[1, 0.2], [2, 0.3]]}", "s.yaml"));
  run.add("HyperParamSummary").go();
  EXPECT_THAT(run.values("learning_rate"), ElementsAre(0.1, 0.2, 0.3));
}

TEST(HyperParamSummary, sees_what_a_schedule_by_steps_did_before_the_last_step) {
  FakeTrainer trainer;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer);
  run.add("ScheduledHyperParamSetter",
          parse_yaml("{param: learning_rate, values: [[1, 0.2], [2, 0.3]], step_based: true}", "s.yaml"));
  run.add("HyperParamSummary").go();
  EXPECT_THAT(run.values("learning_rate"), ElementsAre(0.2, 0.3));
}

}  // namespace
}  // namespace tpack
