#include <set>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(RandomCropRandomShape, draws_sizes_within_its_limits) {
  const auto made =
      augmentor("RandomCropRandomShape",
                {{"min_shape", list({2, 3})}, {"max_shape", list({4, 9})}, {"max_aspect_ratio", 2}});
  std::set<std::pair<int, int>> sizes;
  std::set<int> lefts;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    const Region r = *made->draw({10, 6}, rng)->crop();
    EXPECT_TRUE(r.width >= 3 && r.width <= 8 && r.height >= 2 && r.height <= 4);
    EXPECT_LE(r.width, 2 * r.height);
    EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.x + r.width <= 10 && r.y + r.height <= 6);
    sizes.insert({r.width, r.height});
    lefts.insert(r.x);
  }
  EXPECT_EQ(sizes.size(), 2 + 4 + 6) << "widths of 3..4, 3..6 and 3..8";
  EXPECT_TRUE(lefts.contains(0) && lefts.contains(7));
  EXPECT_EQ(*made->center({10, 6})->crop(), (Region{1, 1, 8, 4}));
  Rng rng(1);
  EXPECT_THROW(made->draw({2, 6}, rng), DataError);
  EXPECT_THROW(made->shape({6, 2, 3}), ConfigError);
  EXPECT_THROW(augmentor("RandomCropRandomShape", {{"min_shape", 8}, {"max_shape", 4}}), ConfigError);
}

}  // namespace
}  // namespace tpack
