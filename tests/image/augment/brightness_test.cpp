#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Brightness, adds_one_number_within_the_range) {
  const cv::Mat pixels(4, 4, CV_8UC3, cv::Scalar::all(100));
  double least = 255;
  double most = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const cv::Mat out = applied(*augmentor("Brightness", 30), pixels, seed);
    double low = 0;
    double high = 0;
    cv::minMaxLoc(out.reshape(1), &low, &high);
    EXPECT_EQ(low, high);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  EXPECT_NEAR(least, 70, 2);
  EXPECT_NEAR(most, 130, 2);
}

TEST(Brightness, stays_within_0_and_255) {
  const cv::Mat white(4, 4, CV_8UC3, cv::Scalar::all(250));
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_GE(applied(*augmentor("Brightness", 100), white, seed).at<cv::Vec3b>(0, 0)[0], 150);
  }
}

}  // namespace
}  // namespace tpack
