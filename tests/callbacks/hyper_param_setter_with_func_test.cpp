#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

class FuncSetterTest : public testing::Test {
 protected:
  FuncSetterTest() {
    trainer_.on_step = [this](int64_t) { seen_.push_back(static_cast<float>(trainer_.learning_rate())); };
  }
  TestRun& start(const std::string& value, RunLength length) {
    run_ = std::make_unique<TestRun>(length, trainer_, folder_.str());
    return run_->add("HyperParamSetterWithFunc",
                     parse_yaml("{param: learning_rate, value: " + value + "}", "s.yaml"));
  }
  std::string error_of(const std::string& value) {
    return error_from([&] { start(value, {.max_epoch = 2, .steps_per_epoch = 1}).go(); });
  }

  TemporaryFolder folder_;
  FakeTrainer trainer_;  // learning rate 0.1
  std::vector<float> seen_;
  std::unique_ptr<TestRun> run_;
};

TEST_F(FuncSetterTest, sets_it_before_training_and_after_each_epoch) {
  start("0.5 / (epoch + 1)", {.max_epoch = 3, .steps_per_epoch = 2}).go();
  EXPECT_THAT(seen_, ElementsAre(0.5F, 0.5F, 0.25F, 0.25F, FloatEq(0.5F / 3), FloatEq(0.5F / 3)));
}

TEST_F(FuncSetterTest, knows_the_old_value) {
  start("old / 2 if epoch > 1 else old", {.max_epoch = 4, .steps_per_epoch = 1}).go();
  EXPECT_THAT(seen_, ElementsAre(0.1F, 0.1F, 0.05F, 0.025F));
}

TEST_F(FuncSetterTest, begins_with_the_epoch_before_the_first) {
  start("epoch", {.starting_epoch = 5, .max_epoch = 5, .steps_per_epoch = 1}).go();
  EXPECT_THAT(seen_, ElementsAre(4.0F));
}

TEST_F(FuncSetterTest, may_use_steps_statistics_and_other_numbers) {
  run_ = std::make_unique<TestRun>(RunLength{.max_epoch = 3, .steps_per_epoch = 2}, trainer_);
  run_->add("give", give("val-cost/a", {0.5, 0.25, 0}));
  run_->add("HyperParamSetterWithFunc",
            parse_yaml("{param: learning_rate, value: val.cost.a * step / (max_epoch * steps_per_epoch)}",
                       "s.yaml"));
  run_->go();
  EXPECT_THAT(seen_, ElementsAre(0.1F, 0.1F, FloatEq(0.5F * 2 / 6), FloatEq(0.5F * 2 / 6),
                                 FloatEq(0.25F * 4 / 6), FloatEq(0.25F * 4 / 6)))
      << "before the first value it stays";
}

/// In tensorpack, the function is applied again when a run is resumed.
TEST_F(FuncSetterTest, a_resumed_run_goes_on_as_one_that_was_not_stopped) {
  start("old * 0.7", {.max_epoch = 6, .steps_per_epoch = 2}).go();
  const std::vector<float> all = seen_;
  seen_.clear();
  start("old * 0.7", {.max_epoch = 3, .steps_per_epoch = 2}).add("ModelSaver");
  trainer_.set_hyper_parameter("learning_rate", 0.1);
  run_->go();
  start("old * 0.7", {.max_epoch = 6, .steps_per_epoch = 2}).go_on_from(folder_ / "checkpoints/model-6.h5");
  EXPECT_EQ(seen_, all);
}

TEST_F(FuncSetterTest, rejects_what_is_no_rate) {
  for (const auto& [value, place, what] :
       {std::array<std::string, 3>{"epoch > 0",
                                   "s.yaml:1:31:", "must be a finite number; it is true or false"},
        {"true if epoch == 0 else old", "s.yaml:1:31:", "after global_step 0 it is 'true'"},
        {"1 / epoch", "s.yaml:1:33:", "'value': division by zero"},
        {"old - 1", "s.yaml:1:9:", "to -0.9 after global_step 0: a learning rate must be at least 0"},
        {"odl * 2", "s.yaml:1:31:", "unknown statistic 'odl'; did you mean 'old'?"}})
    EXPECT_TRUE(says(error_of(value), {place, what}));
}

const live::Fields kHyperParamSetterWithFunc("callback", "HyperParamSetterWithFunc",
                                             {.values = {{"param", "momentum"}, {"value", "0.3"}}});

}  // namespace
}  // namespace tpack
