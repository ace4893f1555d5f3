#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(RandomCrop, every_place_is_equally_likely) {
  const auto crop = augmentor("RandomCrop", list({8, 10}));
  std::vector<int> count(12);
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    Rng rng(seed);
    const Region r = *crop->draw({13, 10}, rng)->crop();  // four columns and three rows of possible places
    EXPECT_EQ(r.width, 10);
    EXPECT_EQ(r.height, 8);
    ++count[static_cast<size_t>(r.y * 4 + r.x)];
  }
  double chi_square = 0;
  for (const int seen : count) chi_square += (seen - 1000) * (seen - 1000) / 1000.0;
  EXPECT_LT(chi_square, 31.3);  // 11 degrees of freedom, p = 0.001
}

TEST(RandomCrop, an_image_that_is_too_small_is_an_error) {
  Rng rng(1);
  EXPECT_THROW(augmentor("RandomCrop", 8)->draw({7, 20}, rng), DataError);
}

TEST(RandomCrop, rejects_a_shorter_side_that_no_image_of_it_has_room_for) {
  const auto crop = augmentor("RandomCrop", list({80, 50}));
  EXPECT_EQ(crop->shorter_side(std::nullopt), 50);
  EXPECT_EQ(crop->shorter_side(50), 50) << "fits images of 50x80";
  EXPECT_EQ(error_of([&] { crop->shorter_side(49); }),
            "a crop of 50x80 does not fit images with a shorter side of 49; make it smaller, or resize to a "
            "shorter side of at least 50 before it");
}

}  // namespace
}  // namespace tpack
