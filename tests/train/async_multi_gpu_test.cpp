#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/live_fields.h"
#include "support/model_with_state.h"
#include "support/small_training.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

constexpr int64_t kAveraged = 30;  // costs of steps

double cost_of(Trainer& trainer, int64_t step) {
  EXPECT_TRUE(trainer.step(step, {}));
  return *trainer.part<StepStatistics>().statistic(0) + *trainer.part<StepStatistics>().statistic(2);
}

/// The sum of some costs with the initial weights. Not of asynchronous towers: the second one may have made
/// any number of steps before the first one of the first.
double cost_before_training() {
  SmallTraining untrained("Simple");
  untrained.trainer().initialize();
  const CheckpointContent weights = untrained.saved();
  double sum = 0;
  for (int64_t step = 0; step < kAveraged; ++step) {
    sum += cost_of(untrained.trainer(), step);
    load_variables(weights, "", *untrained.trainer().part<TrainedVariables>().variables());
  }
  return sum;
}

/// Trains up to step `end`; the sum of the last costs.
double cost_after_training(Trainer& trainer, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t step = begin; step < end; ++step) {
    const double cost = cost_of(trainer, step);
    sum += step < end - kAveraged ? 0 : cost;
  }
  return sum;
}

TEST(AsyncMultiGpu, the_cost_goes_down) {
  SmallTraining training("AsyncMultiGPU: {devices: 2}");
  training.trainer().initialize();
  EXPECT_LT(cost_after_training(training.trainer(), 0, 300), 0.9 * cost_before_training());
  EXPECT_GT(training.trainer().part<StepData>().samples(), 300 * 4);
}

TEST(AsyncMultiGpu, goes_on_from_a_checkpoint_and_goes_on_learning) {
  CheckpointContent content;
  {
    SmallTraining training("AsyncMultiGPU: {devices: 2}");
    training.trainer().initialize();
    training.run(0, 5);
    content = training.saved();
  }
  SmallTraining training("AsyncMultiGPU: {devices: 2}");
  training.trainer().initialize();
  training.trainer().load(content, "model-5.h5");
  EXPECT_TRUE(bit_equal(variables_of(training.trainer()).at("fc0/W"), content.tensors.at("model/fc0/W")));
  EXPECT_LT(cost_after_training(training.trainer(), 5, 300), 0.9 * cost_before_training());
}

TEST(AsyncMultiGpu, rejects_local_variables) {
  EXPECT_TRUE(says(error_from([] {
                     SmallTraining(small_flow(22, "- BatchData: {batch_size: 4}"),
                                   "AsyncMultiGPU: {devices: 2}", "Adam: {learning_rate: 0.01}",
                                   EngineSettings::Backend::kReference, make_self_comm(),
                                   std::make_unique<ModelWithState>())
                         .trainer()
                         .initialize();
                   }),
                   {"'trace' is local to a replica,", "use SyncMultiGPU"}));
}

/// Towers race, so the variables are not the same in each run.
std::string devices_of(const std::string& item) {
  SmallTraining training(item);
  return std::to_string(training.trainer().part<StepData>().step_size().towers) + " towers";
}

const live::Fields kAsyncMultiGpu(
    "trainer", "AsyncMultiGPU",
    {.values = {{"devices", "[cpu:0]"}},
     .left_out = {{"scale_gradient",
                   "AsyncParallel.divides_gradients_by_the_towers_if_it_averages tests it"}},
     .build = devices_of});

}  // namespace
}  // namespace tpack
