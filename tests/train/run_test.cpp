#include "train/run.h"

#include <gmock/gmock-matchers.h>

#include "support/errors.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

using testing::ElementsAre;

class RunTest : public testing::Test {
 protected:
  FakeTrainer trainer_;
  Monitors monitors_{{}};
  std::map<std::string, DataFlow> flows_;
  tpack::Run run_{trainer_, monitors_, {.starting_epoch = 3}, "folder", flows_, 7, true};
};

TEST_F(RunTest, begins_before_its_first_epoch) {
  EXPECT_EQ(run_.epoch(), 2);
  EXPECT_EQ(run_.local_step(), -1);
  EXPECT_EQ(run_.global_step(), 0);
  EXPECT_EQ(run_.folder(), "folder");
  EXPECT_EQ(run_.seed(), 7U);
}

TEST_F(RunTest, gives_variables_by_scope) {
  EXPECT_EQ(run_.variables(VariableScope::kModel).size(), 1U);
  EXPECT_EQ(run_.variables(VariableScope::kModel).begin()->first, "w");
  EXPECT_THAT(run_.part<TrainedVariables>().hyper_parameters(), ElementsAre("learning_rate"));
}

TEST_F(RunTest, sets_hyper_parameters) {
  run_.set_hyper_parameter("learning_rate", 0.25);
  EXPECT_EQ(run_.hyper_parameter("learning_rate"), 0.25);
  EXPECT_EQ(trainer_.learning_rate(), 0.25);
}

TEST_F(RunTest, names_the_nearest_hyper_parameter) {
  for (const char* name : {"learning_rat", "w"}) {
    EXPECT_THAT(error_from([&] { run_.set_hyper_parameter(name, 1); }),
                testing::StartsWith("unknown hyper-parameter '" + std::string(name) + "'"));
  }
}

TEST_F(RunTest, a_trainer_without_model_has_no_place) { EXPECT_THROW(run_.model_handle(), ConfigError); }

}  // namespace
}  // namespace tpack
