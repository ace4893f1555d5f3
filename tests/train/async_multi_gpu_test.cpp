#include <gmock/gmock.h>

#include "support/live_fields.h"
#include "support/model_with_state.h"
#include "support/small_training.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

TEST(AsyncMultiGpu, the_cost_goes_down) {
  const auto cost_of = [](Trainer& trainer, int64_t step) {
    EXPECT_TRUE(trainer.step(step, {}));
    return *trainer.statistic(0) + *trainer.statistic(2);
  };
  // The second tower may have made any number of steps before the first one of the first.
  double first = 0;
  SmallTraining untrained("Simple");
  untrained.trainer().initialize();
  const CheckpointContent weights = [&] {
    CheckpointContent content;
    untrained.trainer().save(content);
    for (auto& [name, tensor] : content.tensors) tensor = tensor.clone();
    return content;
  }();
  for (int64_t step = 0; step < 30; ++step) {
    first += cost_of(untrained.trainer(), step);
    load_variables(weights, "", *untrained.trainer().variables());
  }
  SmallTraining training("AsyncMultiGPU: {devices: 2}");
  training.trainer().initialize();
  double last = 0;
  for (int64_t step = 0; step < 300; ++step) {
    const double cost = cost_of(training.trainer(), step);
    last += step < 270 ? 0 : cost;
  }
  EXPECT_LT(last, 0.9 * first);
  EXPECT_GT(training.trainer().samples(), 300 * 4);
}

TEST(AsyncMultiGpu, goes_on_from_a_checkpoint) {
  CheckpointContent content;
  {
    SmallTraining training("AsyncMultiGPU: {devices: 2}");
    training.trainer().initialize();
    for (int64_t step = 0; step < 5; ++step) training.trainer().step(step, {});
    training.trainer().save(content);
    for (auto& [name, tensor] : content.tensors) tensor = tensor.clone();
  }
  SmallTraining training("AsyncMultiGPU: {devices: 2}");
  training.trainer().initialize();
  training.trainer().load(content, "model-5.h5");
  EXPECT_TRUE(bit_equal(variables_of(training.trainer()).at("fc0/W"), content.tensors.at("model/fc0/W")));
  EXPECT_TRUE(training.trainer().step(5, {}));
}

TEST(AsyncMultiGpu, refuses_local_variables) {
  EXPECT_THAT(
      [] {
        SmallTraining(small_flow(22, "- BatchData: {batch_size: 4}"), "AsyncMultiGPU: {devices: 2}",
                      "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference, make_self_comm(),
                      std::make_unique<ModelWithState>())
            .trainer()
            .initialize();
      },
      testing::ThrowsMessage<ConfigError>(
          testing::HasSubstr("variable 'trace' is local to a replica, which asynchronous towers cannot save; "
                             "use SyncMultiGPU")));
}

/// Towers race, so the variables are not the same in each run.
std::string devices_of(const std::string& item) {
  SmallTraining training(item);
  return std::to_string(training.trainer().step_size().towers) + " towers";
}

const live::Fields kAsyncMultiGpu(
    "trainer", "AsyncMultiGPU",
    {.values = {{"devices", "[cpu:0]"}},
     .left_out = {{"scale_gradient",
                   "AsyncParallel.divides_gradients_by_the_towers_if_it_averages tests it"}},
     .build = devices_of});

}  // namespace
}  // namespace tpack
