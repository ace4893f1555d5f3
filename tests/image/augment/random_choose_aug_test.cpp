#include <map>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(RandomChooseAug, chooses_by_weight) {
  const auto augs = list({item("CenterCrop", 4), item("CenterCrop", 5), item("CenterCrop", 6)});
  const auto chosen = augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({3, 0, 1})}});
  std::map<int, int> sides;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    ++sides[chosen->draw({9, 9}, rng)->size({9, 9}).width];
  }
  EXPECT_NEAR(sides[4], 7500, 217);  // 5 standard deviations
  EXPECT_EQ(sides[5], 0);
  EXPECT_NEAR(sides[6], 2500, 217);
  EXPECT_EQ(chosen->center({9, 9})->size({9, 9}), (ImageSize{4, 4}));
  EXPECT_EQ(chosen->shape({9, 9, 3}), (Shape{Shape::kUnknown, Shape::kUnknown, 3}));
  EXPECT_EQ(chosen->shorter_side(9), std::nullopt);
  const auto same = augmentor("RandomChooseAug", list({item("CenterCrop", 4), item("RandomCrop", 4)}));
  EXPECT_EQ(same->shape({9, 9, 3}), (Shape{4, 4, 3}));
  EXPECT_EQ(same->shorter_side(9), 4);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({1})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({0, 0, 0})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", list({})), ConfigError);
}

}  // namespace
}  // namespace tpack
