#include <numeric>

#include <gtest/gtest.h>

#include "core/text.h"
#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

TEST(AsyncMultiGpu, the_cost_goes_down) {
  SmallTraining training("AsyncMultiGPU: {devices: 2}");
  Trainer& trainer = training.trainer();
  trainer.initialize();
  std::vector<double> costs;
  for (int64_t step = 0; step < 300; ++step) {
    ASSERT_TRUE(trainer.step(step, {}));
    costs.push_back(*trainer.statistic(0) + *trainer.statistic(2));
  }
  EXPECT_LT(std::accumulate(costs.end() - 30, costs.end(), 0.0),
            0.9 * std::accumulate(costs.begin(), costs.begin() + 30, 0.0));
  EXPECT_GT(trainer.samples(), 300 * 4);
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

/// The only batch goes to the first tower, so one step gives the same bits each time.
std::string after_the_only_batch(const std::string& item) {
  SmallTraining training(small_flow(4, "- BatchData: {batch_size: 4}"), item);
  training.trainer().initialize();
  training.trainer().step(0, {});
  std::string text = std::to_string(training.trainer().step_size().towers) + " towers";
  for (const auto& [name, value] : variables_of(training.trainer())) text += " " + shortest(value.at(0));
  return text;
}

const live::Fields kAsyncMultiGpu("trainer", "AsyncMultiGPU",
                                  {.base = "{devices: [cpu:0, cpu:1]}",
                                   .values = {{"devices", "[cpu:0]"}},
                                   .build = after_the_only_batch});

}  // namespace
}  // namespace tpack
