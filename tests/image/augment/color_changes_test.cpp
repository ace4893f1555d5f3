#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

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

TEST(ColorSpace, converts_from_rgb) {
  cv::Mat red(1, 1, CV_8UC3, cv::Scalar(255, 0, 0));
  EXPECT_EQ(applied(*augmentor("ColorSpace", "bgr"), red).at<cv::Vec3b>(0, 0), cv::Vec3b(0, 0, 255));
  EXPECT_EQ(applied(*augmentor("ColorSpace", "hsv"), red).at<cv::Vec3b>(0, 0), cv::Vec3b(0, 255, 255));
  const auto gray = augmentor("Grayscale", {});
  EXPECT_EQ(applied(*gray, red).at<uint8_t>(0, 0), 76);  // 0.299 * 255
  EXPECT_EQ(gray->shape({5, 6, 3}), (Shape{5, 6, 1}));
}

TEST(ColorSpace, leaves_gray_images_as_they_are) {
  const cv::Mat gray(3, 3, CV_8U, cv::Scalar(9));
  EXPECT_EQ(largest_difference(applied(*augmentor("Grayscale", {}), gray), gray), 0);
}

}  // namespace
}  // namespace tpack
