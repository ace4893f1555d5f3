#include "callbacks/progress_line.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::string line(const Progress& progress) {
  std::array<char, 256> buffer{};
  return std::string(progress_line(progress, buffer));
}

TEST(ProgressLine, says_how_far_how_fast_how_long_and_how_good) {
  const std::array<ProgressValue, 2> values = {{{"cost", 0.12344}, {"accuracy", 0.98}}};
  EXPECT_EQ(line({.epoch = 3, .steps = 120, .total_steps = 469, .rate = 85.06, .values = values}),
            "epoch 3: 120/469 (25 %), 85.1 steps/s, 4 s left, cost 0.1234, accuracy 0.98");
}

TEST(ProgressLine, leaves_out_what_is_not_known_and_writes_long_times_in_minutes_and_hours) {
  for (const auto& [progress, expected] : std::vector<std::pair<Progress, std::string>>{
           {{.epoch = 1, .steps = 0, .total_steps = 10}, "epoch 1: 0/10 (0 %)"},
           {{.epoch = 1, .steps = 0, .total_steps = 0}, "epoch 1: 0/0 (100 %)"},
           {{.epoch = 1, .steps = 1, .total_steps = 151, .rate = 2},
            "epoch 1: 1/151 (0 %), 2 steps/s, 1 min 15 s left"},
           {{.epoch = 1, .steps = 0, .total_steps = 4000, .rate = 0.5},
            "epoch 1: 0/4000 (0 %), 0.5 steps/s, 2 h 13 min left"}})
    EXPECT_EQ(line(progress), expected);
}

TEST(ProgressLine, leaves_out_values_that_do_not_fit) {
  const std::array<ProgressValue, 3> values = {{{"a", 1}, {"softmax_cross_entropy", 2}, {"b", 3}}};
  std::array<char, 32> buffer{};
  EXPECT_EQ(progress_line({.epoch = 1, .steps = 1, .total_steps = 2, .values = values}, buffer),
            "epoch 1: 1/2 (50 %), a 1, b 3");
}

TEST(ProgressLine, is_cut_off_at_the_end_of_the_buffer) {
  std::array<char, 10> buffer{};
  EXPECT_EQ(progress_line({.epoch = 123, .steps = 1, .total_steps = 2}, buffer), "epoch 123");
}

}  // namespace
}  // namespace tpack
