#include "train/callback.h"

#include <gmock/gmock.h>

#include "support/fake_trainer.h"
#include "support/positions.h"

namespace tpack {
namespace {

TEST(Setup, numbers_the_statistics_of_the_step) {
  FakeTrainer trainer;
  trainer.figures["accuracy"] = [](int64_t) { return 0.5; };
  trainer.figures["cost"] = [](int64_t) { return 2.0; };
  Monitors monitors{{}};
  const std::map<std::string, DataFlow> flows;
  tpack::Run run(trainer, monitors, {}, "", flows, 0, true);
  ScalarOrder scalars;
  tpack::Setup setup(trainer, run, scalars);
  EXPECT_EQ(setup.statistic({"cost"}), 1U);
  EXPECT_FALSE(run.statistic(1)) << "no step was done";
  try {
    setup.statistic({"acuracy", in_train_yaml(3, 9)});
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "train.yaml:3:9: unknown statistic of the training step 'acuracy'; did you mean 'accuracy'?");
  }
}

TEST(Callback, triggers_at_the_end_of_an_epoch_and_is_for_the_chief_unless_it_says_otherwise) {
  FakeTrainer trainer;
  int triggers = 0;
  TestRun run({.max_epoch = 3, .steps_per_epoch = 2}, trainer);
  run.add("count", std::make_unique<FunctionCallback>(nullptr, [&](tpack::Run&) { ++triggers; })).go();
  EXPECT_EQ(triggers, 3);
  EXPECT_TRUE(Callback().chief_only());
}

/// Says on which ranks it may run.
class Fixed final : public Callback {
 public:
  explicit Fixed(bool chief) : chief_(chief) {}
  bool chief_only() const override { return chief_; }
  const char* why_ranks_are_fixed() const override { return "it is so"; }

 private:
  bool chief_;
};

TEST(Callback, runs_on_the_ranks_that_the_config_says) {
  Callback plain;
  EXPECT_TRUE(plain.is_for_chief());
  plain.take({.ranks = Ranks::kAll});
  EXPECT_FALSE(plain.is_for_chief());
  plain.take({.ranks = Ranks::kChief});
  EXPECT_TRUE(plain.is_for_chief());
}

TEST(Callback, may_refuse_ranks) {
  Fixed(true).take({});
  Fixed(true).take({.ranks = Ranks::kChief});
  EXPECT_THROW(Fixed(true).take({.ranks = Ranks::kAll}), ConfigError);
  EXPECT_THROW(Fixed(false).take({.ranks = Ranks::kChief}), ConfigError);
}

}  // namespace
}  // namespace tpack
