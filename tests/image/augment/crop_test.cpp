#include <set>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(CenterCrop, takes_the_middle) {
  const cv::Mat pixels = photo(20, 11);
  const cv::Mat out = applied(*augmentor("CenterCrop", list({5, 6})), pixels);
  EXPECT_EQ(largest_difference(out, pixels(cv::Rect(7, 3, 6, 5))), 0);
}

TEST(Crops, reject_images_without_room) {
  for (const char* name : {"CenterCrop", "RandomCrop"}) {
    EXPECT_THROW(drawn(*augmentor(name, 8), {20, 7}), DataError) << name;
    EXPECT_THROW(drawn(*augmentor(name, 8), {7, 20}), DataError) << name;
    const auto crop = augmentor(name, list({80, 50}));
    EXPECT_EQ(crop->shorter_side(std::nullopt), 50) << name;
    EXPECT_EQ(crop->shorter_side(50), 50) << "fits images of 50x80";
    EXPECT_TRUE(fails([&] { crop->shorter_side(49); }, {"50x80", "49", "at least 50 before it"}));
  }
}

TEST(RandomCrop, every_place_is_equally_likely) {
  const auto crop = augmentor("RandomCrop", list({8, 10}));
  std::vector<int> count(12);
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    const Region r = *drawn(*crop, {13, 10}, seed)->crop();  // four columns and three rows of possible places
    EXPECT_EQ(r.width, 10);
    EXPECT_EQ(r.height, 8);
    ++count[static_cast<size_t>(r.y * 4 + r.x)];
  }
  double chi_square = 0;
  for (const int seen : count) chi_square += (seen - 1000) * (seen - 1000) / 1000.0;
  EXPECT_LT(chi_square, 31.3);  // 11 degrees of freedom, p = 0.001
}

TEST(RandomCropRandomShape, draws_sizes_within_its_limits) {
  const auto made =
      augmentor("RandomCropRandomShape",
                {{"min_shape", list({2, 3})}, {"max_shape", list({4, 9})}, {"max_aspect_ratio", 2}});
  std::set<std::pair<int, int>> sizes;
  std::set<int> lefts;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const Region r = *drawn(*made, {10, 6}, seed)->crop();
    EXPECT_TRUE(r.width >= 3 && r.width <= 8 && r.height >= 2 && r.height <= 4);
    EXPECT_LE(r.width, 2 * r.height);
    EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.x + r.width <= 10 && r.y + r.height <= 6);
    sizes.insert({r.width, r.height});
    lefts.insert(r.x);
  }
  EXPECT_EQ(sizes.size(), 2 + 4 + 6) << "widths of 3..4, 3..6 and 3..8";
  EXPECT_TRUE(lefts.contains(0) && lefts.contains(7));
  EXPECT_EQ(*made->center({10, 6})->crop(), (Region{1, 1, 8, 4}));
  EXPECT_THROW(drawn(*made, {2, 6}), DataError);
  EXPECT_THROW(made->shape({6, 2, 3}), ConfigError);
  EXPECT_THROW(augmentor("RandomCropRandomShape", {{"min_shape", 8}, {"max_shape", 4}}), ConfigError);
}

}  // namespace
}  // namespace tpack
