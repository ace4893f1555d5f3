#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

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
