#include "environment/environment_group.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

EnvironmentGroup group_of(const std::string& yaml, int64_t count, uint64_t seed = 1) {
  return {parse_yaml(yaml, "environment.yaml"), count, seed};
}

std::vector<int32_t> alternating(int64_t count, int64_t step) {
  return std::vector<int32_t>(static_cast<size_t>(count), static_cast<int32_t>(step % 2));
}

TEST(EnvironmentGroup, an_episode_does_not_depend_on_its_neighbors) {
  EnvironmentGroup two = group_of("CartPole", 2);
  EnvironmentGroup five = group_of("CartPole", 5);
  EnvironmentGroup other_seed = group_of("CartPole", 2, 2);
  EXPECT_FALSE(bit_equal(two.observations(), other_seed.observations()));
  EXPECT_FALSE(bit_equal(two.observations().row(0), two.observations().row(1)));
  for (int64_t step = 0; step < 100; ++step) {
    EXPECT_TRUE(bit_equal(two.observations(), five.observations().rows(0, 2)));
    two.step(alternating(2, step));
    five.step(alternating(5, step));
  }
  EXPECT_GT(two.episodes().episodes(), 0);
}

TEST(EnvironmentGroup, shows_how_an_episode_ended_and_how_the_next_one_begins) {
  EnvironmentGroup group = group_of("CartPole: {limit: 2}", 1);
  group.step(alternating(1, 0));
  EXPECT_TRUE(bit_equal(group.outcomes(), group.observations()));
  EXPECT_EQ(group.step(alternating(1, 0))[0].end, EpisodeEnd::kCutOff);
  EXPECT_GT(std::abs(group.outcomes().at(1)), 0.2) << "the speed after two pushes";
  EXPECT_LT(std::abs(group.observations().at(1)), 0.051) << "the speed of a beginning";
  EXPECT_EQ(group.episodes().mean_reward(), 2);
}

TEST(EnvironmentGroup, goes_on_from_what_was_saved) {
  EnvironmentGroup group = group_of("GridWorld", 3);
  for (int64_t step = 0; step < 57; ++step) group.step(alternating(3, step));
  EnvironmentGroup other = group_of("GridWorld", 3);
  other.load(group.save());
  for (int64_t step = 0; step < 200; ++step) {
    EXPECT_TRUE(bit_equal(group.observations(), other.observations()));
    group.step(alternating(3, step));
    other.step(alternating(3, step));
  }
  EXPECT_EQ(other.episodes().mean_reward(), group.episodes().mean_reward());
  EXPECT_EQ(other.episodes().episodes(), group.episodes().episodes());
  EXPECT_THROW(group_of("GridWorld", 2).load(group.save()), CheckpointError);
}

}  // namespace
}  // namespace tpack
