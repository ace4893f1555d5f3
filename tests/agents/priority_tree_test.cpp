#include "agents/priority_tree.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack {
namespace {

TEST(PriorityTree, finds_the_number_that_a_sum_falls_into) {
  PriorityTree tree(5);
  tree.set(0, 1);
  tree.set(2, 0.5);
  tree.set(4, 2);
  EXPECT_EQ(tree.total(), 3.5);
  EXPECT_EQ(tree.smallest(), 0.5);
  EXPECT_EQ(tree.find(0), 0);
  EXPECT_EQ(tree.find(0.99), 0);
  EXPECT_EQ(tree.find(1), 2);
  EXPECT_EQ(tree.find(1.5), 4);
  EXPECT_EQ(tree.find(3.49), 4);
  EXPECT_EQ(tree.find(3.5), 4) << "what rounding may ask for";
  tree.set(2, 0);
  EXPECT_EQ(tree.find(1), 4);
  EXPECT_EQ(tree.smallest(), 1);
  EXPECT_EQ(PriorityTree(3).smallest(), std::numeric_limits<double>::infinity());
}

TEST(PriorityTree, draws_in_proportion) {
  PriorityTree tree(100);
  for (size_t i = 0; i < 100; ++i) tree.set(i, static_cast<double>(i));
  std::vector<int> drawn(100);
  Rng rng(1);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) ++drawn[tree.find(rng.uniform64() * tree.total())];
  for (size_t i = 0; i < 100; ++i) {
    const double expected = kDraws * static_cast<double>(i) / tree.total();
    EXPECT_NEAR(drawn[i], expected, 5 * std::sqrt(expected)) << i;
  }
}

TEST(PriorityTree, does_not_remember_what_numbers_were) {
  PriorityTree changed(7);
  PriorityTree fresh(7);
  Rng rng(2);
  for (int round = 0; round < 50; ++round)
    for (size_t i = 0; i < 7; ++i) changed.set(i, rng.uniform64());
  for (size_t i = 0; i < 7; ++i) fresh.set(i, changed.priority(i));
  EXPECT_EQ(changed.total(), fresh.total()) << "bit by bit";
}

}  // namespace
}  // namespace tpack
