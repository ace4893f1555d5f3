#include <cmath>
#include <map>

#include <opencv2/core.hpp>

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

}  // namespace
}  // namespace tpack
