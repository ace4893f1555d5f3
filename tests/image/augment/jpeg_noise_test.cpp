#include <algorithm>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(JpegNoise, is_that_of_a_file_of_the_quality) {
  const cv::Mat image = photo(90, 70);
  const cv::Mat out = applied(*augmentor("JpegNoise", list({30, 31})), image);
  Image file;
  const std::vector<uint8_t> bytes = encode_jpeg(image, 30);
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
