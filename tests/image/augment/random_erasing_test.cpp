#include <algorithm>

#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kRandomErasing("augmentor", "RandomErasing", {.values = {{"ratio", "[1, 1]"}}});

/// A white image of 8 bits; what is erased is not white.
cv::Mat white(int width, int height) { return {height, width, CV_8UC3, cv::Scalar::all(255)}; }

/// The smallest rectangle around the pixels that are not white.
cv::Rect erased_part(const cv::Mat& image) {
  cv::Mat channel;
  cv::extractChannel(image, channel, 0);
  return cv::boundingRect(channel != 255);
}

TEST(RandomErasing, fills_a_rectangle_of_the_size_and_shape_that_is_asked_for) {
  const auto erasing = augmentor(
      "RandomErasing", {{"prob", 1}, {"area", list({0.1, 0.2})}, {"ratio", list({0.5, 2})}, {"value", 7}});
  double least = 1;
  double most = 0;
  int upright = 0;
  constexpr int kDraws = 1000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const cv::Mat out = applied(*erasing, white(200, 100), seed);
    const cv::Rect part = erased_part(out);
    EXPECT_EQ(cv::countNonZero(out(part).clone().reshape(1) != 7), 0);
    const double area = part.area() / 20000.0;
    const double ratio = static_cast<double>(part.height) / part.width;
    EXPECT_TRUE(area > 0.097 && area < 0.203) << area;
    EXPECT_TRUE(ratio > 0.48 && ratio < 2.08) << ratio;
    least = std::min(least, area);
    most = std::max(most, area);
    upright += part.height > part.width ? 1 : 0;
  }
  EXPECT_LT(least, 0.103);
  EXPECT_GT(most, 0.197);
  EXPECT_NEAR(upright, kDraws / 2, 4 * 16);  // four standard deviations
}

TEST(RandomErasing, reaches_all_pixels) {
  const auto erasing = augmentor("RandomErasing", {{"prob", 1}});
  cv::Mat reached = cv::Mat::zeros(8, 12, CV_8U);
  for (uint64_t seed = 0; seed < 300; ++seed) reached(erased_part(applied(*erasing, white(12, 8), seed))) = 1;
  EXPECT_EQ(cv::countNonZero(reached), 12 * 8);
}

TEST(RandomErasing, happens_as_often_as_asked) {
  const auto erasing = augmentor("RandomErasing", {{"prob", 0.3}});
  int erased = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    erased += erasing->draw({100, 100}, rng) != nullptr ? 1 : 0;
  }
  EXPECT_NEAR(erased, 3000, 4 * 46);  // four standard deviations
}

TEST(RandomErasing, leaves_images_alone_that_no_rectangle_fits_into) {
  const auto erasing =
      augmentor("RandomErasing", {{"prob", 1}, {"area", list({0.9, 1})}, {"ratio", list({4, 8})}});
  EXPECT_EQ(largest_difference(applied(*erasing, white(40, 40)), white(40, 40)), 0);
}

TEST(RandomErasing, rejects_ranges_in_the_wrong_order) {
  EXPECT_THROW(augmentor("RandomErasing", {{"area", list({0.3, 0.1})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomErasing", {{"ratio", list({2, 1})}}), ConfigError);
}

}  // namespace
}  // namespace tpack
