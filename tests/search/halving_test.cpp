#include "search/halving.h"

#include <cmath>
#include <limits>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Halving, of_27_runs_and_27_epochs_is_that_of_the_paper) {
  // Li et al. 2018, "Hyperband", table 1, bracket s = 3 with R = 27.
  EXPECT_THAT(halving_rungs(27, 1, 27, 3), ElementsAre(Rung{1, 27}, Rung{3, 9}, Rung{9, 3}, Rung{27, 1}));
}

TEST(Halving, trains_the_last_run_to_the_end_at_once) {
  EXPECT_THAT(halving_rungs(4, 1, 100, 2), ElementsAre(Rung{1, 4}, Rung{2, 2}, Rung{100, 1}));
  EXPECT_THAT(halving_rungs(1, 1, 100, 2), ElementsAre(Rung{100, 1}));
}

TEST(Halving, has_rungs_that_shrink_while_epochs_grow) {
  for (size_t runs = 1; runs <= 60; ++runs) {
    for (int64_t most = 1; most <= 50; most += 7) {
      for (int64_t least = 1; least <= most; least += 3) {
        for (int64_t eta = 2; eta <= 5; ++eta) {
          const auto rungs = halving_rungs(runs, least, most, eta);
          ASSERT_EQ(rungs[0].runs, runs);
          ASSERT_EQ(rungs.back().epochs, most);
          for (size_t i = 1; i < rungs.size(); ++i) {
            ASSERT_LT(rungs[i - 1].epochs, rungs[i].epochs);
            ASSERT_EQ(rungs[i].runs, std::max<size_t>(1, rungs[i - 1].runs / static_cast<size_t>(eta)));
            ASSERT_GT(rungs[i - 1].runs, 1U) << "one run needs no more comparison";
          }
        }
      }
    }
  }
}

TEST(Halving, never_overflows) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(halving_rungs(size_t{1} << 62U, 1, most, 2).back().epochs, most);
}

TEST(Halving, keeps_the_best_first_and_nothing_without_a_number) {
  const std::vector<std::optional<double>> scores = {0.3, std::nullopt, 0.1, kNaN, 0.3, 0.2};
  EXPECT_THAT(best_of(scores, 3, Goal::kMin), ElementsAre(2, 5, 0));
  EXPECT_THAT(best_of(scores, 3, Goal::kMax), ElementsAre(0, 4, 5));
  EXPECT_THAT(best_of(scores, 9, Goal::kMin), ElementsAre(2, 5, 0, 4));
}

TEST(Halving, compares_with_nan) {
  EXPECT_TRUE(is_better(1, kNaN, Goal::kMin));
  EXPECT_TRUE(is_better(1, kNaN, Goal::kMax));
  EXPECT_FALSE(is_better(kNaN, 1, Goal::kMax));
  EXPECT_FALSE(is_better(kNaN, kNaN, Goal::kMin));
  EXPECT_FALSE(is_better(1, 1, Goal::kMin));
}

}  // namespace
}  // namespace tpack
