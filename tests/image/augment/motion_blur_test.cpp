#include <algorithm>

#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The second moments of one bright pixel: a line of `length` pixels at an angle.
TEST(MotionBlur, spreads_pixels_along_a_line) {
  cv::Mat dot = cv::Mat::zeros(41, 41, CV_32FC1);
  dot.at<float>(20, 20) = 1;
  const auto horizontal = augmentor("MotionBlur", {{"length", list({9, 9})}, {"max_deg", 0}});
  const cv::Mat line = applied(*horizontal, dot);
  for (int x = 16; x <= 24; ++x) EXPECT_NEAR(line.at<float>(20, x), 1.0 / 9, 1e-5);
  EXPECT_NEAR(cv::sum(line)[0], 1, 1e-5);
  const auto any = augmentor("MotionBlur", list({9, 9}));
  double most = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const cv::Moments m = cv::moments(applied(*any, dot, seed));
    EXPECT_NEAR(m.m10 / m.m00, 20, 1e-3);
    EXPECT_NEAR(m.m01 / m.m00, 20, 1e-3);
    EXPECT_NEAR((m.mu20 + m.mu02) / m.m00, (9 * 9 - 1) / 12.0, 0.8);
    most = std::max(most, m.mu02 / m.m00);
  }
  EXPECT_GT(most, 5) << "some lines are steep";
  EXPECT_LE(largest_difference(
                applied(*augmentor("MotionBlur", {{"length", list({1, 1})}, {"max_deg", 0}}), dot), dot),
            1e-6);
}

const live::Fields kMotionBlur("augmentor", "MotionBlur", {.values = {{"length", "[5, 6]"}}});

}  // namespace
}  // namespace tpack
