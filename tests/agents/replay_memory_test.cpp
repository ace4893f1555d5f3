#include "agents/replay_memory.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

/// Two environments: in step t, environment e sees 10 * t + e, does t mod 3 and gets t as reward.
void add_steps(ReplayMemory& memory, int64_t first, int64_t count) {
  for (int64_t t = first; t < first + count; ++t) {
    const auto seen = static_cast<float>(10 * t);
    const auto action = static_cast<int32_t>(t % 3);
    const EpisodeEnd end = t == 2 ? EpisodeEnd::kOver : EpisodeEnd::kNone;
    const StepOutcome first_outcome = {static_cast<float>(t), end};
    const StepOutcome second_outcome = {static_cast<float>(t),
                                        t == 3 ? EpisodeEnd::kCutOff : EpisodeEnd::kNone};
    memory.add(Tensor::of<float>({2, 1}, {seen, seen + 1}), std::vector<int32_t>{action, action},
               std::vector<StepOutcome>{first_outcome, second_outcome});
  }
}

/// state, action, reward, is_over, next_state.
std::vector<double> read(const ReplayMemory& memory, int64_t step) {
  Datapoint sample;
  memory.read(step, sample);
  std::vector<double> values;
  for (size_t i = 0; i < 5; ++i) values.push_back(sample.tensor(i).at(0));
  return values;
}

ReplayMemory memory_of(int64_t size) { return {size, 2, {DType::kFloat32, {1}}}; }

TEST(ReplayMemory, gives_steps_with_what_they_led_to) {
  ReplayMemory memory = memory_of(20);
  EXPECT_EQ(memory.end(), 0);
  add_steps(memory, 0, 5);
  EXPECT_EQ(memory.begin(), 0);
  EXPECT_EQ(memory.end(), 8) << "of the newest step nothing is known";
  EXPECT_EQ(read(memory, 0), (std::vector<double>{0, 0, 0, 0, 10}));
  EXPECT_EQ(read(memory, 3), (std::vector<double>{11, 1, 1, 0, 21}));
  EXPECT_EQ(read(memory, 4)[3], 1) << "the episode is over";
  EXPECT_TRUE(memory.is_complete(4));
  EXPECT_FALSE(memory.is_complete(7)) << "the episode was cut off";
  EXPECT_EQ(read(memory, 7)[3], 0);
}

TEST(ReplayMemory, forgets_the_oldest) {
  ReplayMemory memory = memory_of(7);
  EXPECT_EQ(memory.size(), 8) << "steps of all environments";
  add_steps(memory, 0, 10);
  EXPECT_EQ(memory.begin(), 12);
  EXPECT_EQ(memory.end(), 18);
  EXPECT_EQ(read(memory, 12), (std::vector<double>{60, 0, 6, 0, 70}));
  EXPECT_EQ(read(memory, 17), (std::vector<double>{81, 2, 8, 0, 91}));
}

TEST(ReplayMemory, goes_on_from_what_was_saved) {
  for (const int64_t steps : {3, 9}) {
    ReplayMemory memory = memory_of(8);
    add_steps(memory, 0, steps);
    ReplayMemory other = memory_of(8);
    other.load(memory.save());
    add_steps(memory, steps, 2);
    add_steps(other, steps, 2);
    EXPECT_EQ(other.end(), memory.end());
    for (int64_t step = memory.begin(); step < memory.end(); ++step)
      EXPECT_EQ(read(other, step), read(memory, step));
  }
  ReplayMemory memory = memory_of(8);
  add_steps(memory, 0, 4);
  ReplayMemory smaller = memory_of(4);
  EXPECT_THROW(smaller.load(memory.save()), CheckpointError);
}

}  // namespace
}  // namespace tpack
