#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(GaussianNoise, has_the_deviation_asked_for_and_no_bias) {
  const cv::Mat pixels(100, 100, CV_8UC3, cv::Scalar::all(128));
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(applied(*augmentor("GaussianNoise", 10), pixels), mean, deviation);
  EXPECT_NEAR(mean[0], 128, 0.5);
  EXPECT_NEAR(deviation[0], 10, 0.3);
}

TEST(GaussianNoise, is_the_same_for_the_same_draw) {
  const cv::Mat pixels = photo(20, 20);
  const auto noise = augmentor("GaussianNoise", 10);
  EXPECT_EQ(largest_difference(applied(*noise, pixels, 4), applied(*noise, pixels, 4)), 0);
  EXPECT_GT(largest_difference(applied(*noise, pixels, 4), applied(*noise, pixels, 5)), 0);
}

}  // namespace
}  // namespace tpack
