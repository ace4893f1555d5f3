#include <cmath>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(SaltPepperNoise, sets_values_with_its_probabilities) {
  const cv::Mat gray(200, 200, CV_8UC3, cv::Scalar::all(100));
  const cv::Mat out =
      applied(*augmentor("SaltPepperNoise", {{"white_prob", 0.1}, {"black_prob", 0.04}}), gray).reshape(1);
  const double total = 3.0 * 200 * 200;  // bounds: 5 standard deviations
  EXPECT_NEAR(cv::countNonZero(out == 255) / total, 0.1, 5 * std::sqrt(0.1 * 0.9 / total));
  EXPECT_NEAR(cv::countNonZero(out == 0) / total, 0.04, 5 * std::sqrt(0.04 * 0.96 / total));
  EXPECT_NEAR(cv::countNonZero(out == 100) / total, 0.86, 5 * std::sqrt(0.86 * 0.14 / total));
  EXPECT_THROW(augmentor("SaltPepperNoise", {{"white_prob", 0.6}, {"black_prob", 0.6}}), ConfigError);
}

}  // namespace
}  // namespace tpack
