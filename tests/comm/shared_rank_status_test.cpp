#include "comm/shared_rank_status.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tpack {
namespace {

class SharedRankStatusTest : public testing::Test {
 protected:
  ~SharedRankStatusTest() override { unsetenv(SharedRankStatus::kVariable); }
};

TEST_F(SharedRankStatusTest, shows_to_all_where_each_rank_is) {
  const auto maker = SharedRankStatus::create(3);
  setenv(SharedRankStatus::kVariable, maker->name().c_str(), 1);
  const auto rank = SharedRankStatus::open(3);
  ASSERT_NE(rank, nullptr);
  EXPECT_EQ(maker->pid(1), 0);
  rank->enter(1);
  rank->set_stage(1, "gradients");
  EXPECT_EQ(maker->pid(1), getpid());
  EXPECT_EQ(maker->stage(1), "gradients");
  rank->set_stage(1, std::string(200, 'x'));
  EXPECT_EQ(maker->stage(1), std::string(63, 'x'));
  rank->set_stage(1, "short");
  EXPECT_EQ(maker->stage(1), "short");
  rank->set_stage(1, "gradients", true);
  EXPECT_EQ(maker->stage(1), "after gradients");
  EXPECT_EQ(maker->stage(2), "");
  EXPECT_FALSE(maker->has_left(1));
  rank->leave(1);
  EXPECT_TRUE(maker->has_left(1));
  EXPECT_FALSE(maker->has_left(0));
  EXPECT_EQ(maker->interrupted(), 0);
  rank->set_interrupted(0);
  EXPECT_EQ(maker->interrupted(), 15) << "by another rank's";
  rank->set_interrupted(2);
  rank->set_interrupted(0);
  EXPECT_EQ(maker->interrupted(), 2);
}

TEST_F(SharedRankStatusTest, the_first_lost_rank_counts) {
  const auto maker = SharedRankStatus::create(3);
  setenv(SharedRankStatus::kVariable, maker->name().c_str(), 1);
  const auto rank = SharedRankStatus::open(3);
  EXPECT_EQ(rank->lost(), -1);
  maker->set_lost(2);
  maker->set_lost(0);
  EXPECT_EQ(rank->lost(), 2);
}

TEST_F(SharedRankStatusTest, the_first_failure_counts) {
  const auto maker = SharedRankStatus::create(3);
  setenv(SharedRankStatus::kVariable, maker->name().c_str(), 1);
  const auto rank = SharedRankStatus::open(3);
  EXPECT_FALSE(maker->failure());
  rank->set_failure(2, 3, "a bad row\nand another");
  rank->set_failure(0, 7, "rank 2 has ended");
  ASSERT_TRUE(maker->failure());
  EXPECT_TRUE(maker->has_failed(0)) << "although its failure does not count";
  EXPECT_FALSE(maker->has_failed(1));
  EXPECT_EQ(maker->failure()->rank, 2);
  EXPECT_EQ(maker->failure()->exit_code, 3);
  EXPECT_EQ(maker->failure()->text, "a bad row\nand another");
}

TEST_F(SharedRankStatusTest, keeps_the_beginning_of_a_long_failure) {
  const auto maker = SharedRankStatus::create(1);
  maker->set_failure(0, 2, std::string(20'000, 'x'));
  EXPECT_EQ(maker->failure()->text, std::string(8191, 'x'));
}

TEST_F(SharedRankStatusTest, is_not_taken_for_another_one) {
  EXPECT_EQ(SharedRankStatus::open(2), nullptr) << "the environment names none";
  const auto maker = SharedRankStatus::create(3);
  setenv(SharedRankStatus::kVariable, maker->name().c_str(), 1);
  EXPECT_EQ(SharedRankStatus::open(2), nullptr) << "it is for another number of ranks";
  setenv(SharedRankStatus::kVariable, "/nowhere/at/all", 1);
  EXPECT_EQ(SharedRankStatus::open(3), nullptr);
}

TEST_F(SharedRankStatusTest, leaves_no_file) {
  std::string name;
  {
    const auto maker = SharedRankStatus::create(1);
    name = maker->name();
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_FALSE(std::filesystem::exists(name));
}

}  // namespace
}  // namespace tpack
