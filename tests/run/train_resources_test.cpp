// Missing resources are reported before training: exit code 5 and the position in the config.
#include <filesystem>

#include "support/errors.h"
#include "support/program_runner.h"
#include "system/machine.h"

namespace tpack {
namespace {

using testing_cli::joined;
using testing_cli::kTinyConfig;
using testing_cli::Outcome;
using testing_cli::tpack;
using testing_cli::Words;

class Resources : public testing_cli::WithTinyConfig {
 protected:
  Outcome train(std::vector<std::string> more) const {
    const Words words = joined({"train", config(), "--log-dir", folder_ / "run"}, more);
    return tpack(words);
  }
  bool was_begun() const { return std::filesystem::exists(folder_ / "run/config.yaml"); }
};

TEST_F(Resources, an_unknown_device_is_exit_2_with_its_place) {
  write_content(config(), std::string(kTinyConfig) + "trainer: {SyncMultiGPU: {devices: [gpu:0, gpu:1]}}\n");
  const Outcome outcome = exits(2, train({}));
  EXPECT_TRUE(outcome.err.starts_with("error: " + config() + ":")) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with(": unknown device 'gpu:0'; use cpu:0, cpu:1, ...\n")) << outcome.err;
  EXPECT_FALSE(was_begun());
}

TEST_F(Resources, a_part_of_the_processors_that_is_not_there_is_exit_2_with_its_place) {
  write_content(config(),
                std::string(kTinyConfig) + "trainer: {SyncMultiGPU: {devices: [cpu:0, cpu:99999]}}\n");
  const Outcome outcome = exits(2, tpack({"check", config()}));
  EXPECT_TRUE(outcome.err.starts_with("error: " + config() + ":")) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("; use cpu:0 and cpu:1\n")) << outcome.err;
}

TEST_F(Resources, too_few_processors_are_exit_5_with_their_number) {
  write_content(config(), std::string(kTinyConfig) + "trainer: {SyncMultiGPU: {devices: [cpu:0, cpu:1]}}\n");
  const std::string processor = std::to_string(allowed_cpus().at(0));
  testing_cli::Process check({"taskset", "-c", processor, testing_cli::program(), "check", config()},
                             folder_ / "check");
  EXPECT_EQ(check.wait(), 5);
  EXPECT_TRUE(says(check.err(), {": 2 towers need at least as many", "this process may use 1"}));
}

/// On one processor, which another process keeps busy. Sanitizers make steps a hundred times slower, so the
/// epoch is longer only if it was too short to tell.
TEST_F(Resources, processors_that_others_use_are_named_in_the_line_of_the_epoch) {
  const std::string processor = std::to_string(allowed_cpus().at(0));
  const testing_cli::Process neighbor({"taskset", "-c", processor, "sh", "-c", "while :; do :; done"},
                                      folder_ / "neighbor");
  std::string text;
  bool was_said = false;
  for (const char* steps : {"3000", "30000", "300000"}) {
    if (was_said) break;
    testing_cli::Process training(
        {"taskset", "-c", processor, testing_cli::program(), "train", config(), "--log-dir",
         folder_ / ("run" + std::string(steps)), "--set", "max_epoch=1", "--set",
         "steps_per_epoch=" + std::string(steps), "--set", "default_callbacks=false"},
        folder_ / "out");
    EXPECT_EQ(training.wait(), 0) << training.err();
    text = training.err();
    const size_t line = text.find("Epoch 1 (global_step " + std::string(steps) + ") finished");
    ASSERT_NE(line, std::string::npos) << text;
    was_said = text.find("; other processes used ", line) != std::string::npos;
  }
  EXPECT_TRUE(was_said) << text;
}

TEST_F(Resources, a_step_for_which_there_is_no_memory_is_exit_5_before_anything_is_written) {
  if (available_memory().value_or(0) > 100'000'000'000) GTEST_SKIP() << "this machine has the memory";
  const Outcome outcome = exits(
      5, train({"--set", "data.train.1.BatchData.batch_size=16000000", "--set",
                "data.train.0.FakeData.size=80000000", "--set", "model.layers.1.FullyConnected.units=2000"}));
  EXPECT_NE(outcome.err.find(" is free"), std::string::npos) << outcome.err;
  EXPECT_FALSE(was_begun());
}

TEST_F(Resources, variables_without_enough_memory_are_exit_5_with_the_largest) {
  if (available_memory().value_or(0) > 100'000'000'000) GTEST_SKIP() << "this machine has the memory";
  const Outcome outcome =
      exits(5, tpack({"check", config(), "--set", "model.layers.1.FullyConnected.units=1500000000"}));
  EXPECT_TRUE(outcome.err.starts_with("error: " + config() + ":11:")) << outcome.err;
  EXPECT_TRUE(says(outcome.err, {"'fc0/W', float32 [16"}));
}

}  // namespace
}  // namespace tpack
