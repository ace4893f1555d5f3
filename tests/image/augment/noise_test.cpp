#include <algorithm>
#include <cmath>

#include <opencv2/core.hpp>

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

TEST(JpegNoise, is_that_of_a_file_of_the_quality) {
  const cv::Mat image = photo(90, 70);
  const cv::Mat out = applied(*augmentor("JpegNoise", list({30, 31})), image);
  Image file;
  const Bytes bytes = encode_jpeg(image, 30);
  std::copy(bytes.begin(), bytes.end(), file.encoded_buffer(bytes.size()).begin());
  file.header_known({Color::kRgb});
  EXPECT_EQ(largest_difference(out, file.pixels()), 0);
  // Worse files differ more. A fourth channel stays.
  const auto difference = [&](int quality) {
    return cv::norm(applied(*augmentor("JpegNoise", list({quality, quality + 1})), image), image,
                    cv::NORM_L1);
  };
  EXPECT_GT(difference(10), difference(50));
  EXPECT_GT(difference(50), difference(95));
  cv::Mat four(20, 30, CV_8UC4);
  cv::randu(four, cv::Scalar::all(0), cv::Scalar::all(255));
  const cv::Mat changed = applied(*augmentor("JpegNoise", list({10, 11})), four);
  cv::Mat before;
  cv::Mat after;
  cv::extractChannel(four, before, 3);
  cv::extractChannel(changed, after, 3);
  EXPECT_EQ(largest_difference(before, after), 0);
  EXPECT_GT(largest_difference(changed, four), 10);
  EXPECT_THROW(augmentor("JpegNoise", list({50, 50})), ConfigError);
}

}  // namespace
}  // namespace tpack
