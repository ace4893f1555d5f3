#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "monitor/monitors.h"
#include "support/temporary_folder.h"

namespace tpack::reliability {

/// Statistics by name, or a list of such maps, without those that depend on the clock.
inline nlohmann::json without_times(const std::string& text) {
  nlohmann::json all = nlohmann::json::parse(text);
  const auto drop = [](nlohmann::json& statistics) {
    for (auto at = statistics.begin(); at != statistics.end();)
      at = differs_between_runs(at.key()) ? statistics.erase(at) : std::next(at);
  };
  if (all.is_array()) {
    std::for_each(all.begin(), all.end(), drop);
  } else {
    drop(all);
  }
  return all;
}

/// Compares variables of the model and the optimizer and all other tensors, bit by bit, and the position in
/// the data.
inline void expect_same_state(const CheckpointContent& a, const CheckpointContent& b) {
  EXPECT_EQ(a.step, b.step);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  EXPECT_GT(a.tensors.size(), 0U);
  for (const auto& [name, value] : a.tensors) {
    ASSERT_TRUE(b.tensors.contains(name)) << name;
    EXPECT_TRUE(bit_equal(value, b.tensors.at(name))) << name;
  }
  EXPECT_EQ(a.texts.at("data/json"), b.texts.at("data/json"));
}

/// Compares everything except times: tensors, counters, the state of callbacks, the history of statistics,
/// the plan.
inline void expect_same_checkpoint(const std::string& path_a, const std::string& path_b) {
  const CheckpointContent a = load_checkpoint(path_a);
  const CheckpointContent b = load_checkpoint(path_b);
  expect_same_state(a, b);
  EXPECT_EQ(a.epoch, b.epoch);
  ASSERT_EQ(a.texts.size(), b.texts.size());
  for (const auto& [name, text] : a.texts) {
    ASSERT_TRUE(b.texts.contains(name)) << name;
    if (name == layout::kHistory) {
      EXPECT_EQ(without_times(text), without_times(b.texts.at(name)));
    } else {
      EXPECT_EQ(text, b.texts.at(name)) << name;
    }
  }
}

/// Compares the records of stats.json of two run folders, except for times.
inline void expect_same_statistics(const std::string& folder_a, const std::string& folder_b) {
  const nlohmann::json a = without_times(content_of(folder_a + "/stats.json"));
  EXPECT_GT(a.size(), 0U);
  EXPECT_EQ(a, without_times(content_of(folder_b + "/stats.json")));
}

/// Compares the last checkpoint, the best checkpoints and the statistics of two run folders.
inline void expect_same_end(const std::string& folder_a, const std::string& folder_b, int64_t last_step) {
  const auto name = "/checkpoints/" + checkpoint_name(last_step);
  expect_same_checkpoint(folder_a + name, folder_b + name);
  const std::vector<std::string> best = list_other_checkpoints(folder_a + "/checkpoints");
  EXPECT_FALSE(best.empty());
  EXPECT_EQ(list_other_checkpoints(folder_b + "/checkpoints").size(), best.size());
  for (const std::string& path : best)
    expect_same_checkpoint(path,
                           folder_b + "/checkpoints/" + std::filesystem::path(path).filename().string());
  expect_same_statistics(folder_a, folder_b);
}

}  // namespace tpack::reliability
