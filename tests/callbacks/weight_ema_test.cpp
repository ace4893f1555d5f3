#include <algorithm>

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "core/text.h"
#include "support/live_fields.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

/// The weights of FakeTrainer count the steps: n after step n.
class WeightEmaTest : public testing::Test {
 protected:
  TestRun& start(const std::string& params, int64_t epochs) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 5}, folder_.str());
    run_->trainer.figures["cost"] = [](int64_t step) { return static_cast<double>(step); };
    return run_->add("WeightEMA", parse_yaml(params, "e.yaml")).add("ModelSaver");
  }
  double saved(const std::string& name = "ema.h5") const {
    return load_checkpoint(folder_ / ("checkpoints/" + name)).tensors.at("model/w").at(0);
  }
  /// TensorFlow's formula.
  static double expected(double decay, int steps) {
    double mean = 1;
    for (int n = 1; n < steps; ++n) {
      const double d = std::min(decay, (1.0 + n) / (10.0 + n));
      mean = d * mean + (1 - d) * (n + 1);
    }
    return mean;
  }

  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
};

TEST_F(WeightEmaTest, follows_the_weights_with_a_decay_that_grows) {
  for (const double decay : {0.5, 0.999}) {
    start("{decay: " + std::to_string(decay) + "}", 4).go();
    EXPECT_NEAR(saved(), expected(decay, 20), 1e-5 * 20) << decay;
    EXPECT_EQ(run_->trainer.weights().at(0), 20) << "training continues with its own";
  }
}

TEST_F(WeightEmaTest, a_resumed_run_has_the_same_average_and_its_callbacks_go_on) {
  const std::string params =
      "{decay: 0.9, callbacks: [TestReportWeight, SimpleMovingAverage: {names: [cost], window_size: 4}]}";
  start(params, 4).go();
  const double whole = saved();
  const std::string statistics = bits_of_statistics(run_->monitors);
  EXPECT_THAT(run_->values("cost/SMA"), testing::ElementsAre(2.5, 6.5, 10.5, 14.5, 18.5));
  start(params, 2).go();
  start(params, 4).go_on_from(folder_ / "checkpoints/model-10.h5");
  EXPECT_EQ(saved(), whole);
  EXPECT_EQ(bits_of_statistics(run_->monitors), statistics) << "of steps 9 to 12, 9 and 10 before the resume";
}

std::string files_and_figures_of_ema(const std::string& item) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 5}, folder.str());
  run.add("WeightEMA", Registry<Callback>::make_item(parse_yaml(item, "e.yaml"))).go();
  const CheckpointContent content = load_checkpoint(folder / "checkpoints/ema.h5");
  return shortest(content.tensors.at("model/w").at(0)) + " " + join(run.monitors.names(), " ");
}
const live::Fields kWeightEma("callback", "WeightEMA",
                              {.base = "{decay: 0.5}",
                               .values = {{"decay", "0.1"}, {"callbacks", "[TestReportWeight]"}},
                               .build = files_and_figures_of_ema});

TEST_F(WeightEmaTest, rejects_a_decay_of_one) { EXPECT_THROW(start("{decay: 1}", 1), ConfigError); }

}  // namespace
}  // namespace tpack
