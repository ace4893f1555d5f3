#include <algorithm>
#include <cmath>
#include <map>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Of one bright pixel: the filter itself, whose weights are those of a normal distribution.
TEST(GaussianBlur, has_the_size_and_deviation_of_its_ranges) {
  cv::Mat dot = cv::Mat::zeros(31, 31, CV_32FC1);
  dot.at<float>(15, 15) = 1;
  const auto blur = augmentor("GaussianBlur", {{"size_range", list({7, 8})}, {"sigma_range", list({2, 2})}});
  const cv::Mat out = applied(*blur, dot);
  EXPECT_NEAR(cv::sum(out)[0], 1, 1e-5);
  EXPECT_NEAR(out.at<float>(15, 17) / out.at<float>(15, 15), std::exp(-0.5), 1e-4);
  EXPECT_GT(out.at<float>(15, 22), 0);
  EXPECT_EQ(out.at<float>(15, 23), 0);
  // Of size_range [0, 3): reaches of 0, 1 and 2, each in a third of 10,000 draws (5 standard deviations).
  const auto drawn = augmentor("GaussianBlur", {});
  std::map<int, int> reaches;
  const cv::Mat small = dot(cv::Rect(11, 11, 9, 9)).clone();
  for (uint64_t seed = 0; seed < 10000; ++seed)
    ++reaches[cv::countNonZero(applied(*drawn, small, seed).row(4)) / 2];
  ASSERT_EQ(reaches.size(), 3);
  for (const auto& [reach, count] : reaches) EXPECT_NEAR(count, 3333, 236) << reach;
  EXPECT_THROW(augmentor("GaussianBlur", list({3, 3})), ConfigError);
}

const live::Fields kGaussianBlur("augmentor", "GaussianBlur",
                                 {.values = {{"size_range", "[2, 3]"}, {"sigma_range", "[1, 3]"}}});

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
