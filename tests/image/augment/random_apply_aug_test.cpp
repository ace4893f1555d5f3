#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(RandomApplyAug, runs_the_other_as_often_as_asked) {
  const auto aug = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 4)}, {"prob", 0.25}});
  int runs = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    runs += aug->draw({8, 8}, rng) != nullptr ? 1 : 0;
  }
  EXPECT_NEAR(runs, 2500, 4 * 43);  // four standard deviations
}

TEST(RandomApplyAug, knows_only_the_sizes_that_do_not_depend_on_it) {
  const auto aug = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", list({4, 8}))}});
  EXPECT_EQ(aug->shape({8, 8, 3}).str(), "[?, 8, 3]");
}

TEST(RandomApplyAug, rejects_what_the_other_rejects_if_it_ever_runs) {
  const auto sometimes = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.1}});
  EXPECT_NE(error_of([&] { sometimes->shorter_side(60); }), "no error");
  EXPECT_EQ(sometimes->shorter_side(64), 64);
  EXPECT_EQ(sometimes->shorter_side(100), std::nullopt);
  const auto never = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.0}});
  EXPECT_EQ(never->shorter_side(60), 60);
}

}  // namespace
}  // namespace tpack
