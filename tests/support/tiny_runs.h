#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "support/program_runner.h"

namespace tpack::testing_cli {

/// Trains the tiny config in its own run folders.
class WithTinyRuns : public WithTinyConfig {
 protected:
  std::string run_folder(const std::string& name = "run") const { return folder_ / name; }
  std::string checkpoint(int64_t step, const std::string& name = "run") const {
    return run_folder(name) + "/checkpoints/model-" + std::to_string(step) + ".h5";
  }
  Outcome train(std::vector<std::string> more = {}, const std::string& name = "run") const {
    const Words words = joined({"train", config(), "--log-dir", run_folder(name)}, more);
    return tpack(words);
  }
  int exit_code(const std::string& name = "run") const {
    return nlohmann::json::parse(content_of(run_folder(name) + "/exit.json")).at("exit_code").get<int>();
  }
};

/// Compares the tensors of both, bit by bit.
inline void expect_same_tensors(const std::string& a, const std::string& b) {
  const CheckpointContent first = load_checkpoint(a);
  const CheckpointContent second = load_checkpoint(b);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  EXPECT_GT(first.tensors.size(), 0U);
  for (const auto& [name, value] : first.tensors) {
    ASSERT_TRUE(second.tensors.contains(name)) << name;
    EXPECT_TRUE(bit_equal(value, second.tensors.at(name))) << name;
  }
  EXPECT_EQ(first.texts.at("data/json"), second.texts.at("data/json"));
}

}  // namespace tpack::testing_cli
