// configs/digits-distillation.yaml: the cost of a batch, by hand, and a teacher that stays as it is.
#include <cmath>

#include <gtest/gtest.h>

#include "checkpoint/checkpoint.h"
#include "experiment/check.h"
#include "learner/learner.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::Words;

class Distillation : public testing::Test {
 protected:
  /// Three steps of a config; the folder of the run.
  std::string run_of(const std::string& config, const Words& settings) const {
    Words words = {"train", source_folder() + "/configs/" + config + ".yaml", "--log-dir", folder_ / config};
    for (const std::string& setting :
         testing_cli::joined({"max_epoch=1", "steps_per_epoch=3", "data.validation.RenderedDigits.size=250",
                              "engine={threads: 2, algorithm: heuristic}"},
                             settings)) {
      words.emplace_back("--set");
      words.push_back(setting);
    }
    testing_cli::exits(0, testing_cli::tpack(words));
    return folder_ / config;
  }

  TemporaryFolder folder_;
};

/// softmax(logits / temperature) of each row.
std::vector<std::vector<double>> soft_rows(const Tensor& logits, double temperature) {
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < logits.shape()[0]; ++i) {
    std::vector<double> row;
    double sum = 0;
    for (int64_t j = 0; j < 10; ++j) {
      row.push_back(std::exp(logits.at(i * 10 + j) / temperature));
      sum += row.back();
    }
    for (double& p : row) p /= sum;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// share T^2 KL(teacher || student), both softened, + (1 - share) times the cross entropy: the mean of
/// samples.
double cost_by_hand(const Tensor& teacher, const Tensor& student, const Tensor& labels, double temperature,
                    double share) {
  const auto hints = soft_rows(teacher, temperature);
  const auto softened = soft_rows(student, temperature);
  const auto plain = soft_rows(student, 1);
  double sum = 0;
  for (size_t i = 0; i < hints.size(); ++i) {
    double divergence = 0;
    for (size_t j = 0; j < 10; ++j) divergence += hints[i][j] * std::log(hints[i][j] / softened[i][j]);
    const auto label = static_cast<size_t>(labels.at(static_cast<int64_t>(i)));
    sum += share * temperature * temperature * divergence - (1 - share) * std::log(plain[i][label]);
  }
  return sum / static_cast<double>(hints.size());
}

TEST_F(Distillation, has_the_cost_of_the_paper_and_a_teacher_that_stays) {
  const std::string teacher = run_of("digits", {}) + "/checkpoints/model-3.h5";
  const std::string student =
      run_of("digits-distillation", {"vars.teacher=" + teacher, "vars.temperature=3", "vars.share=0.75"}) +
      "/checkpoints/model-3.h5";
  const CheckpointContent before = load_checkpoint(teacher);
  const CheckpointContent after = load_checkpoint(student);
  int compared = 0;
  for (const auto& [name, value] : before.tensors) {
    if (!name.starts_with("model/")) continue;
    EXPECT_TRUE(bit_equal(value, after.tensors.at("model/teacher/" + name.substr(6)))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 19);  // 3 kernels, 3 times 4 of BatchNorm, 2 times 2 of products

  Learner learner = Learner::from_checkpoint(student);
  Tensor images(DType::kUInt8, {40, 28, 28, 1});
  Tensor labels(DType::kInt32, {40});
  Rng rng(2);
  for (uint8_t& value : images.span<uint8_t>()) value = static_cast<uint8_t>(rng.range(0, 255));
  for (int32_t& label : labels.span<int32_t>()) label = rng.range(0, 9);
  const Learner::Tensors scores = learner.predict({{"image", images}}, {"teacher_scores", "scores"});
  const double expected = cost_by_hand(scores.at("teacher_scores"), scores.at("scores"), labels, 3, 0.75);
  EXPECT_NEAR(learner.step({{"image", images}, {"label", labels}}).at("cost"), expected, 2e-5 * expected);
}

TEST_F(Distillation, is_checked_without_the_teacher_if_the_data_may_be_missing) {
  const std::string config = source_folder() + "/configs/digits-distillation.yaml";
  const std::vector<std::string> overrides = {"vars.teacher=" + (folder_ / "none.h5")};
  EXPECT_THROW(CheckedExperiment(config, overrides, true), ConfigError);
  EXPECT_NO_THROW(CheckedExperiment(config, overrides, false));
}

}  // namespace
}  // namespace tpack
