#include "dataflow/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(CenterPaste, puts_the_image_in_the_middle_of_the_background) {
  const cv::Mat pixels = photo(6, 4);
  const auto paste = augmentor("CenterPaste", {{"background_shape", list({8, 9})}, {"fill", 7}});
  const cv::Mat out = applied(*paste, pixels);
  ASSERT_EQ(out.size(), cv::Size(9, 8));
  EXPECT_EQ(largest_difference(out(cv::Rect(1, 2, 6, 4)), pixels), 0);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0), cv::Vec3b(7, 7, 7));
  EXPECT_EQ(cv::sum(out)[0], cv::sum(pixels)[0] + 7.0 * (9 * 8 - 6 * 4));
  Rng rng(1);
  EXPECT_THROW(paste->draw({10, 4}, rng), DataError);
}

TEST(CenterPaste, rejects_images_that_are_known_to_be_larger) {
  const auto paste = augmentor("CenterPaste", 64);
  EXPECT_EQ(paste->shape({Shape::kUnknown, 64, 3}), (Shape{64, 64, 3}));
  EXPECT_EQ(error_of([&] {
              paste->shape({Shape::kUnknown, 65, 3});
            }),
            "images [?, 65, 3] do not fit on a background of [64, 64, 3]; make it larger, or put a Resize "
            "before it");
  EXPECT_EQ(paste->shorter_side(64), 64);
  EXPECT_EQ(
      error_of([&] { paste->shorter_side(65); }),
      "images with a shorter side of 65 do not fit on a background of 64x64; make it larger, or put a Resize "
      "before it");
}

}  // namespace
}  // namespace tpack
