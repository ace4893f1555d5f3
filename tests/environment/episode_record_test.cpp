#include "environment/episode_record.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(EpisodeRecord, has_the_means_of_the_last_hundred) {
  EpisodeRecord record;
  EXPECT_FALSE(record.mean_reward());
  record.add(3, 7);
  EXPECT_EQ(record.mean_reward(), 3);
  EXPECT_EQ(record.mean_length(), 7);
  for (int i = 1; i <= 100; ++i) record.add(i, 2 * i);
  EXPECT_EQ(record.episodes(), 101);
  EXPECT_EQ(record.mean_reward(), 50.5);
  EXPECT_EQ(record.mean_length(), 101);
}

TEST(EpisodeRecord, goes_on_from_what_was_saved) {
  EpisodeRecord record;
  for (int i = 0; i < 130; ++i) record.add(0.1 * i, i);
  EpisodeRecord other;
  other.load(record.save());
  for (int i = 0; i < 90; ++i) {
    record.add(i, i);
    other.add(i, i);
    EXPECT_EQ(other.mean_reward(), record.mean_reward());
  }
  EXPECT_EQ(other.episodes(), record.episodes());
}

}  // namespace
}  // namespace tpack
