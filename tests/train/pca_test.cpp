// Against PyTorch: tests/golden/batch_trainers_test.cpp. Ranks and resume: batch_trainer_test.cpp.

#include <gmock/gmock-matchers.h>

#include "checkpoint/layout.h"
#include "core/stop.h"
#include "support/batch_training.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/on_ranks.h"
#include "train/rank_vote.h"

namespace tpack {
namespace {

/// 40 samples of 4 numbers, in 4 batches.
DataFlow small_rows(const std::string& domain = "[0, 1]") {
  return flow_of("- FakeData: {shapes: [[4], [4]], names: [x, y], domain: " + domain +
                 ", size: 40}\n- BatchData: {batch_size: 10}");
}

TEST(Pca, solves_after_the_first_step_and_at_the_end_of_each_pass) {
  BatchTraining training("PCA: {components: 4, component: x}", small_rows());
  Trainer& trainer = training.trainer();
  trainer.initialize();
  EXPECT_EQ(trainer.part<StepStatistics>().statistic(0), std::nullopt);
  std::vector<int64_t> changed;
  std::vector<int64_t> reported;
  Tensor before = trainer.part<TrainedVariables>().variables()->value("components").clone();
  for (int64_t step = 0; step < 8; ++step) {
    training.run(step, step + 1);
    const Tensor now = trainer.part<TrainedVariables>().variables()->value("components").clone();
    if (!bit_equal(now, before)) changed.push_back(step);
    if (trainer.part<StepStatistics>().statistic_is_of_last_step(0)) reported.push_back(step);
    before = now;
  }
  EXPECT_THAT(changed, testing::ElementsAre(0, 3, 7));
  EXPECT_THAT(reported, testing::ElementsAre(3, 7));  // the first one would spoil the mean of an epoch
  EXPECT_NEAR(*trainer.part<StepStatistics>().statistic(0), 1,
              1e-12);  // all components are all of the variance
}

TEST(Pca, finds_the_same_in_samples_that_are_far_from_zero) {
  // The same uniform numbers, which float can hold at 4096 with 11 bits fewer.
  BatchTraining near("PCA: {components: 2, component: x}", small_rows("[0, 1]"));
  BatchTraining far("PCA: {components: 2, component: x}", small_rows("[4096, 4097]"));
  for (BatchTraining* training : {&near, &far}) {
    training->trainer().initialize();
    training->run(0, 4);
  }
  VariableStore& a = *near.trainer().part<TrainedVariables>().variables();
  VariableStore& b = *far.trainer().part<TrainedVariables>().variables();
  for (int64_t i = 0; i < 2; ++i)
    EXPECT_NEAR(a.value("variances").at(i) / b.value("variances").at(i), 1, 1e-2);
  for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(a.value("components").at(i), b.value("components").at(i), 2e-2);
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(a.value("mean").at(i) + 4096, b.value("mean").at(i), 1e-2);
}

TEST(Pca, says_which_component_is_not_finite_or_too_large) {
  BatchTraining training("PCA: {components: 2, component: x}", small_rows("[0, 1.0e30]"));
  training.trainer().initialize();
  EXPECT_TRUE(says(error_from<Diverged>([&] { training.trainer().step(0, {}); }),
                   {"trainer PCA: component 'x' of data.train"}));
}

TEST(Pca, a_step_that_an_interrupt_cuts_short_is_as_if_it_had_not_begun) {
  std::stop_source interrupted;
  interrupted.request_stop();
  const std::string yaml = "PCA: {components: 2, component: x}";
  BatchTraining whole(yaml, small_rows());
  whole.trainer().initialize();
  whole.run(0, 8);
  for (const int64_t cut : {0, 3, 7}) {  // the steps that solve
    BatchTraining first(yaml, small_rows());
    first.trainer().initialize();
    first.run(0, cut);
    EXPECT_THROW(first.trainer().step(cut, interrupted.get_token()), Stopped) << cut;
    BatchTraining second(yaml, small_rows());
    second.trainer().initialize();
    second.trainer().load(first.saved(), "model.h5");
    second.run(cut, 8);
    const CheckpointContent content = second.saved();
    for (const auto& [name, tensor] : whole.saved().tensors)
      EXPECT_TRUE(bit_equal(tensor, content.tensors.at(name))) << cut << ": " << name;
  }
}

TEST(Pca, a_step_that_an_interrupt_of_rank_0_cuts_short_ends_on_all_ranks) {
  std::stop_source interrupted;
  interrupted.request_stop();
  on_ranks(2, [&](int rank, std::unique_ptr<Comm> comm) {
    BatchTraining training("PCA: {components: 2, component: x}", small_rows(), std::move(comm));
    training.trainer().initialize();
    const std::stop_token stop = rank == 0 ? interrupted.get_token() : std::stop_token();
    if (rank == 0)
      EXPECT_THROW(training.trainer().step(0, stop), Stopped);
    else
      EXPECT_THROW(training.trainer().step(0, stop), PeerInterrupted);
    EXPECT_EQ(training.saved().tensors.at(layout::kOptimizer + std::string("sum")).at(0), 0) << rank;
  });
}

TEST(Pca, rejects_what_it_cannot_solve) {
  EXPECT_TRUE(says(error_from([] { BatchTraining("PCA: {components: 5, component: x}", small_rows()); }),
                   {"'components' is 5", "'x' has 4 values"}));
  EXPECT_TRUE(says(
      error_from([] {
        BatchTraining("PCA: {component: x}",
                      flow_of("- FakeData: {shapes: [[70, 70]], names: [x]}\n- BatchData: {batch_size: 2}"));
      }),
      {"'x' has 4900 values", "at most 4096"}));
  const std::string endless =
      "- FakeData: {shapes: [[4]], names: [x]}\n- RepeatedData\n- BatchData: {batch_size: 2}";
  EXPECT_TRUE(says(error_from([&] { BatchTraining("PCA: {components: 2, component: x}", flow_of(endless)); }),
                   {"set 'solve_every'"}));
  EXPECT_NO_THROW(BatchTraining("PCA: {components: 2, component: x, solve_every: 5}", flow_of(endless)));
}

/// The first component after some steps, or why there is none.
std::string component_after_steps(const std::string& item) {
  BatchTraining training(item, small_rows());
  training.trainer().initialize();
  training.run(0, 3);
  std::string text = training.trainer().part<TrainedModel>().model_handle()->device->name();
  const Tensor components = training.trainer().part<TrainedVariables>().variables()->value("components");
  for (int64_t i = 0; i < components.elements(); ++i) text += " " + shortest(components.at(i));
  return text;
}

const live::Fields kPca("trainer", "PCA",
                        {.base = "{components: 2, component: x, solve_every: 2}",
                         .values = {{"component", "y"}, {"device", "apart:0"}},
                         .build = component_after_steps});

}  // namespace
}  // namespace tpack
