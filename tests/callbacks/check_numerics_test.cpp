#include <cmath>

#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "core/stop.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

class CheckNumericsTest : public testing::Test {
 protected:
  /// The message of Diverged; "" if the run ends normally.
  std::string run(const ConfigNode& params = {}) {
    TestRun test({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
    test.add("CheckNumerics", params);
    try {
      last_step_ = test.go().global_step;
    } catch (const Diverged& error) {
      last_step_ = test.loop().state().global_step();
      EXPECT_EQ(error.kind(), ErrorKind::kDiverged);
      return error.what();
    }
    return "";
  }
  /// Makes element 1 of w `value` in the first step.
  void spoil_in_first_step(float value) {
    trainer_.weights().data<float>()[1] = 0;
    trainer_.on_step = [this, value](int64_t step) {
      if (step == 0) trainer_.weights().data<float>()[1] = value;
    };
  }

  FakeTrainer trainer_;
  int64_t last_step_ = 0;
};

constexpr const char* kAdvice = "; try a smaller learning rate, or GlobalNormClip for the gradient";

TEST_F(CheckNumericsTest, lets_finite_numbers_pass) {
  trainer_.figures["cost"] = [](int64_t) { return 1.0; };
  EXPECT_EQ(run(), "");
}

TEST_F(CheckNumericsTest, names_the_first_bad_element_after_the_epoch_or_the_step) {
  spoil_in_first_step(-INFINITY);
  EXPECT_TRUE(says(run({{"run_step", true}}), {"after global_step 1 variable w has -inf at [1]", kAdvice}));
  spoil_in_first_step(INFINITY);
  EXPECT_TRUE(says(run(), {"variable w has inf at [1]", kAdvice}));
}

TEST_F(CheckNumericsTest, looks_before_training_and_at_the_optimizer_too) {
  trainer_.weights().data<float>()[0] = INFINITY;
  EXPECT_TRUE(says(run(), {"after global_step 0 variable w has inf at [0]", kAdvice}));
  EXPECT_EQ(run({{"run_as_trigger", false}}), "") << "turned off";
  trainer_.weights().data<float>()[0] = 1;
  trainer_.set_hyper_parameter("learning_rate", INFINITY);
  EXPECT_TRUE(says(run(), {"variable learning_rate of the optimizer has inf at []", kAdvice}));
}

TEST_F(CheckNumericsTest, looks_at_the_cost_too) {
  trainer_.figures["accuracy"] = [](int64_t) { return std::nan(""); };  // no weight: no value
  // Only in a step within the epoch.
  trainer_.figures["cost"] = [](int64_t step) { return step == 2 ? std::nan("") : 1.0; };
  EXPECT_EQ(run(), std::string("after global_step 2 the cost is nan") + kAdvice);
}

TEST_F(CheckNumericsTest, looks_at_every_cost) {
  trainer_.minimized = {"d", "g"};
  trainer_.figures["d"] = [](int64_t) { return 1.0; };
  trainer_.figures["d_term"] = [](int64_t) { return std::nan(""); };
  trainer_.figures["g"] = [](int64_t step) { return step == 2 ? -std::nan("") : 1.0; };
  EXPECT_THAT(run(), testing::StartsWith("after global_step 2 cost g is nan;"));
}

TEST_F(CheckNumericsTest, takes_no_cost_of_a_step_that_has_none) {
  trainer_.figures["cost"] = [](int64_t step) { return step == 2 ? std::nan("") : 1.0; };
  trainer_.is_due = [](int64_t steps) { return steps != 2; };
  EXPECT_EQ(run(), "");
}

TEST_F(CheckNumericsTest, asks_for_no_cost_of_a_step_that_another_process_did) {
  const TemporaryFolder folder;
  {
    FakeRun test({.max_epoch = 1, .steps_per_epoch = 2}, folder.str());
    test.on_trigger("stop", [](tpack::Run& /*run*/) { throw Stopped{}; });
    EXPECT_EQ(test.go().ending, StopReason::kInterrupted);
  }
  trainer_.figures["cost"] = [](int64_t) { return std::nan(""); };  // like unwritten memory
  TestRun test({.max_epoch = 1, .steps_per_epoch = 2}, trainer_);
  EXPECT_EQ(test.add("CheckNumerics").go_on_from(folder / "checkpoints/model-2.h5").ending,
            StopReason::kFinished);
}

}  // namespace
}  // namespace tpack
