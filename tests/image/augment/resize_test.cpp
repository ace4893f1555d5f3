#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Resize, enlarges_as_opencv_does) {
  const cv::Mat pixels = photo(40, 30);
  for (const auto& [name, code] : {std::pair{"linear", cv::INTER_LINEAR}, std::pair{"cubic", cv::INTER_CUBIC},
                                   std::pair{"nearest", cv::INTER_NEAREST_EXACT}}) {
    cv::Mat expected;
    cv::resize(pixels, expected, {57, 65}, 0, 0, code);
    const auto resize = augmentor("Resize", {{"shape", list({65, 57})}, {"interp", name}});
    EXPECT_EQ(largest_difference(applied(*resize, pixels), expected), 0) << name;
    EXPECT_EQ(resize->shape({Shape::kUnknown, Shape::kUnknown, 3}), (Shape{65, 57, 3}));
  }
}

TEST(Resize, averages_what_is_too_fine_for_the_result) {
  cv::Mat stripes(64, 64, CV_8UC3);
  for (int i = 0; i < 64 * 64 * 3; ++i) stripes.data[i] = i / 3 % 2 == 0 ? 0 : 255;
  const cv::Mat out = applied(*augmentor("Resize", 16), stripes);
  EXPECT_LE(largest_difference(out(cv::Rect(2, 2, 12, 12)), cv::Mat(12, 12, CV_8UC3, {128, 128, 128})), 1);
}

TEST(Resize, nearest_pixels_keep_their_values) {
  cv::Mat mask(60, 60, CV_8UC1);
  for (int i = 0; i < 3600; ++i) mask.data[i] = i % 7 < 3 ? 3 : 9;  // never 6
  const cv::Mat out = applied(*augmentor("Resize", {{"shape", 25}, {"interp", "nearest"}}), mask);
  for (int i = 0; i < 625; ++i) EXPECT_TRUE(out.data[i] == 3 || out.data[i] == 9);
}

}  // namespace
}  // namespace tpack
