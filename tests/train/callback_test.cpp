#include "train/callback.h"

#include <gmock/gmock-matchers.h>

#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/positions.h"
#include "support/small_training.h"

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
  tpack::Setup setup(run, scalars);
  EXPECT_EQ(setup.statistic({"cost"}), 1U);
  EXPECT_FALSE(run.statistic(1)) << "no step was done";
  const auto look = [&] { setup.statistic({"acuracy", in_train_yaml(3, 9)}); };
  EXPECT_TRUE(says(error_from(look), {"train.yaml:3:9:", "'acuracy'", "did you mean 'accuracy'?"}));
}

std::vector<std::string> names_of(const std::map<std::string, TensorSpec>& variables) {
  std::vector<std::string> names;
  for (const auto& [name, spec] : variables) names.push_back(name);
  return names;
}

TEST(Setup, finds_variables_by_pattern) {
  SmallTraining training(small_flow(22, "- BatchData: {batch_size: 4}"), "Simple", "Adam",
                         EngineSettings::Backend::kReference, make_self_comm(), model_of(R"(
inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - BatchNorm: {name: bn}
  - FullyConnected: {name: fc1, units: 3}
cost: [{SoftmaxCrossEntropy: {logits: fc1, labels: label}}]
)"));
  Monitors monitors{{}};
  const std::map<std::string, DataFlow> flows;
  tpack::Run run(training.trainer(), monitors, {}, "", flows, 0, true);
  ScalarOrder scalars;
  const tpack::Setup setup(run, scalars);
  EXPECT_THAT(names_of(setup.variables()), testing::Contains("bn/mean/EMA"));
  EXPECT_EQ(names_of(setup.variables({{".*/EMA"}, {"fc1"}})),
            (std::vector<std::string>{"bn/mean/EMA", "bn/variance/EMA", "fc1/W", "fc1/b"}));
  EXPECT_EQ(setup.variables({{"fc1/b"}}).at("fc1/b").shape, Shape({3}));
  EXPECT_EQ(names_of(setup.trained_variables({{"bn"}})), (std::vector<std::string>{"bn/beta", "bn/gamma"}));
  EXPECT_TRUE(setup.variables(std::vector<Ref<VariablePattern>>()).empty());
  EXPECT_TRUE(says(
      error_from([&] {
        setup.trained_variables({{"fc0"}, {"bn/mean", in_train_yaml(3, 9)}, {"fv1", in_train_yaml(4, 9)}});
      }),
      {"train.yaml:3:9:", "'bn/mean' or is below it", "did you mean 'bn/beta'?",
       "train.yaml:4:9:", "'fv1' or is below it", "did you mean 'fc1'?"}));
}

TEST(Setup, has_no_variables_without_a_model) {
  FakeTrainer trainer;
  Monitors monitors{{}};
  const std::map<std::string, DataFlow> flows;
  tpack::Run run(trainer, monitors, {}, "", flows, 0, true);
  ScalarOrder scalars;
  const tpack::Setup setup(run, scalars);
  EXPECT_THROW(setup.variables(), ConfigError);
}

TEST(Callback, triggers_at_the_end_of_an_epoch_and_is_for_the_chief_unless_it_says_otherwise) {
  FakeTrainer trainer;
  int triggers = 0;
  TestRun run({.max_epoch = 3, .steps_per_epoch = 2}, trainer);
  run.on_trigger("count", [&](tpack::Run&) { ++triggers; }).go();
  EXPECT_EQ(triggers, 3);
  EXPECT_EQ(Callback().rules().ranks, Ranks::kChief);
}

TEST(Callback, runs_on_the_ranks_that_the_config_says) {
  Callback plain;
  EXPECT_TRUE(plain.is_for_chief());
  plain.take({.ranks = Ranks::kAll});
  EXPECT_FALSE(plain.is_for_chief());
  plain.take({.ranks = Ranks::kChief});
  EXPECT_TRUE(plain.is_for_chief());
}

TEST(Callback, may_reject_ranks) {
  const auto fixed = [](Ranks ranks) { return Callback({.ranks = ranks, .ranks_are_fixed = "it is so"}); };
  fixed(Ranks::kChief).take({});
  fixed(Ranks::kChief).take({.ranks = Ranks::kChief});
  EXPECT_THROW(fixed(Ranks::kChief).take({.ranks = Ranks::kAll}), ConfigError);
  EXPECT_THROW(fixed(Ranks::kAll).take({.ranks = Ranks::kChief}), ConfigError);
}

}  // namespace
}  // namespace tpack
