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

}  // namespace
}  // namespace tpack
