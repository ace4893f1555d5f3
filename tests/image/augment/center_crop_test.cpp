#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(CenterCrop, takes_the_middle) {
  const cv::Mat pixels = photo(20, 11);
  const cv::Mat out = applied(*augmentor("CenterCrop", list({5, 6})), pixels);
  EXPECT_EQ(largest_difference(out, pixels(cv::Rect(7, 3, 6, 5))), 0);
}

TEST(CenterCrop, an_image_that_is_too_small_is_an_error) {
  Rng rng(1);
  EXPECT_THROW(augmentor("CenterCrop", 8)->draw({20, 7}, rng), DataError);
}

TEST(CenterCrop, rejects_a_shorter_side_that_no_image_of_it_has_room_for) {
  const auto crop = augmentor("CenterCrop", 64);
  EXPECT_EQ(crop->shorter_side(64), 64);
  EXPECT_NE(error_of([&] { crop->shorter_side(60); }), "no error");
}

}  // namespace
}  // namespace tpack
