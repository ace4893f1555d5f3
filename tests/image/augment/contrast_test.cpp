#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(Contrast, stretches_around_the_mean_of_each_channel) {
  cv::Mat pixels(1, 2, CV_8UC3);
  pixels.at<cv::Vec3b>(0, 0) = {90, 10, 0};
  pixels.at<cv::Vec3b>(0, 1) = {110, 30, 255};
  const cv::Mat out = applied(*augmentor("Contrast", list({2, 2})), pixels);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0), cv::Vec3b(80, 0, 0));
  EXPECT_EQ(out.at<cv::Vec3b>(0, 1), cv::Vec3b(120, 40, 255));
}

TEST(Contrast, rejects_a_range_that_is_none) {
  EXPECT_THROW(augmentor("Contrast", list({2, 1})), ConfigError);
}

const live::Fields kContrast("augmentor", "Contrast", {.values = {{"factor_range", "[0.5, 1]"}}});

}  // namespace
}  // namespace tpack
