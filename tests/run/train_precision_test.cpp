// Training with each engine.precision: what is saved continues with the same bits.
#include <filesystem>

#include <gmock/gmock.h>

#include "backend/plan.h"
#include "checkpoint/layout.h"
#include "comm/self_comm.h"
#include "support/random_convnet.h"
#include "support/tiny_runs.h"

namespace tpack::testing_cli {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class Plans : uint8_t { kOfCheckpoint, kAgain };

class TrainPrecision : public WithTinyRuns {
 protected:
  /// Trains the network of mnist-convnet, from random images, from where the run is to the end of an epoch.
  void train_to(int epoch, const std::string& name, Precision precision,
                const std::vector<std::string>& more = {}, Plans plans = Plans::kOfCheckpoint) const {
    std::vector<std::string> changes = {
        "data.train.BatchData.batch_size=8", "max_epoch=" + std::to_string(epoch),
        "engine={threads: 2, algorithm: heuristic, precision: " + std::string(name_of(precision)) + "}"};
    changes.insert(changes.end(), more.begin(), more.end());
    TrainOptions options = random_convnet(run_folder(name), changes);
    options.replan = plans == Plans::kAgain;
    tpack::train(options, *world_);
  }

 private:
  std::unique_ptr<Comm> world_ = make_self_comm();
};

const std::string kNormalized =
    "model.layers=[{Normalize: {scale: 0.01}}, {Conv2D: {filters: 16, activation: null}}, BatchNorm, ReLU, "
    "{Conv2D: {filters: 16, activation: null}}, BatchNorm, ReLU, {Conv2D: {filters: 16, activation: null}}, "
    "BatchNorm, ReLU, {FullyConnected: {name: fc1, units: 10}}]";

class TrainWithEachPrecision : public TrainPrecision, public testing::WithParamInterface<Precision> {};

TEST_P(TrainWithEachPrecision, resumes_bit_exactly) {
  train_to(2, "whole", GetParam());
  train_to(1, "resumed", GetParam());
  train_to(2, "resumed", GetParam());
  expect_same_tensors(checkpoint(6, "whole"), checkpoint(6, "resumed"));
}

TEST_P(TrainWithEachPrecision, resumes_two_towers_bit_exactly) {
  const std::vector<std::string> towers = {
      "trainer={SyncMultiGPUTrainerReplicated: {devices: [cpu:0, cpu:1]}}"};
  train_to(2, "whole", GetParam(), towers);
  train_to(1, "resumed", GetParam(), towers);
  train_to(2, "resumed", GetParam(), towers);
  expect_same_tensors(checkpoint(6, "whole"), checkpoint(6, "resumed"));
}

TEST_P(TrainWithEachPrecision, recomputes_with_the_same_bits) {
  train_to(1, "stored", GetParam(), {kNormalized});
  train_to(1, "recomputed", GetParam(), {kNormalized, "engine.recompute=true"});
  expect_same_tensors(checkpoint(3, "stored"), checkpoint(3, "recomputed"));
}

INSTANTIATE_TEST_SUITE_P(Precisions, TrainWithEachPrecision,
                         testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST_F(TrainPrecision, differs_between_precisions) {
  train_to(1, "fp32", Precision::kFp32);
  train_to(1, "bf16", Precision::kBf16);
  const Tensor a = load_checkpoint(checkpoint(3, "fp32")).tensors.at("model/conv1/W");
  const Tensor b = load_checkpoint(checkpoint(3, "bf16")).tensors.at("model/conv1/W");
  EXPECT_GT(max_difference(a, b), 0);
  EXPECT_LT(max_difference(a, b), 0.02);
}

TEST_F(TrainPrecision, may_change_when_a_run_is_resumed) {
  train_to(1, "run", Precision::kFp32);
  train_to(2, "run", Precision::kBf16);
  EXPECT_THAT(load_checkpoint_texts(checkpoint(6)).texts.at(layout::kPlan),
              HasSubstr("\"precision\": \"bf16\""));
}

/// Its plan has no precision.
TEST_F(TrainPrecision, rejects_the_bf16_of_earlier_versions) {
  train_to(1, "run", Precision::kBf16);
  CheckpointContent content = load_checkpoint(checkpoint(3));
  std::string& plan = content.texts.at(layout::kPlan);
  const std::string entry = " \"precision\": \"bf16\",\n";
  ASSERT_NE(plan.find(entry), std::string::npos) << plan;
  plan.erase(plan.find(entry), entry.size());
  save_checkpoint(checkpoint(3), content);
  try {
    train_to(2, "run", Precision::kBf16);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rounded the factors of matrix products only"));
    EXPECT_THAT(error.what(), HasSubstr("--replan"));
    EXPECT_THAT(error.what(), HasSubstr("--precision fp32"));
  }
  std::filesystem::copy(run_folder(), run_folder("fp32"), std::filesystem::copy_options::recursive);
  train_to(2, "fp32", Precision::kFp32);
  testing::internal::CaptureStderr();
  train_to(2, "run", Precision::kBf16, {}, Plans::kAgain);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("warning: the bf16 of " + checkpoint(3) + " rounded the factors of matrix products only"));
  testing::internal::CaptureStderr();
  train_to(3, "run", Precision::kBf16);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("the bf16 of"))) << "it has a new plan";
}

TEST_F(TrainPrecision, rejects_a_plan_for_another_one) {
  train_to(1, "run", Precision::kFp32);
  const Outcome outcome = tpack({"train", run_folder() + "/config.yaml", "--log-dir", run_folder("other"),
                                 "--plan", run_folder() + "/plan.json", "--precision", "bf16"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("this plan is for engine.precision fp32, the run has bf16"));
}

/// What recomputes needs less memory; a plan does not depend on it.
TEST_F(TrainPrecision, continues_with_less_memory) {
  train_to(2, "whole", Precision::kFp32, {kNormalized});
  train_to(1, "resumed", Precision::kFp32, {kNormalized});
  train_to(2, "resumed", Precision::kFp32, {kNormalized, "engine.recompute=true"});
  expect_same_tensors(checkpoint(6, "whole"), checkpoint(6, "resumed"));
}

}  // namespace
}  // namespace tpack::testing_cli
