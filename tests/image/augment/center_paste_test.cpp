#include <map>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(CenterPaste, puts_the_image_in_the_middle_of_the_background) {
  const cv::Mat pixels = photo(6, 4);
  const auto paste = augmentor("CenterPaste", {{"background_shape", list({8, 9})}, {"fill", 7}});
  const cv::Mat out = applied(*paste, pixels);
  ASSERT_EQ(out.size(), cv::Size(9, 8));
  EXPECT_EQ(largest_difference(out(cv::Rect(1, 2, 6, 4)), pixels), 0);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0), cv::Vec3b(7, 7, 7));
  EXPECT_EQ(cv::sum(out)[0], cv::sum(pixels)[0] + 7.0 * (9 * 8 - 6 * 4));
  EXPECT_THROW(drawn(*paste, {10, 4}), DataError);
}

TEST(CenterPaste, rejects_images_that_are_known_to_be_larger) {
  const auto paste = augmentor("CenterPaste", 64);
  EXPECT_EQ(paste->shape({Shape::kUnknown, 64, 3}), (Shape{64, 64, 3}));
  EXPECT_TRUE(fails(
      [&] {
        paste->shape({Shape::kUnknown, 65, 3});
      },
      {"[?, 65, 3]", "[64, 64, 3]", "Resize"}));
  EXPECT_EQ(paste->shorter_side(64), 64);
  EXPECT_TRUE(fails([&] { paste->shorter_side(65); }, {"65", "64x64", "put a Resize before it"}));
}

/// 10,000 draws; bounds are 5 standard deviations.
TEST(RandomPaste, draws_places_and_takes_one_color_per_channel) {
  const auto paste =
      augmentor("RandomPaste", {{"background_shape", list({5, 6})}, {"fill", list({1, 2, 3})}});
  const cv::Mat image(4, 2, CV_8UC3, cv::Scalar::all(200));
  std::map<std::pair<double, double>, int> places;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto transform = drawn(*paste, {2, 4}, seed);
    const Point p = transform->point({0, 0}, {2, 4});
    ++places[{p.x, p.y}];
  }
  ASSERT_EQ(places.size(), 5 * 2);
  for (const auto& [place, count] : places) EXPECT_NEAR(count, 1000, 150);
  const cv::Mat out = applied(*paste, image);
  EXPECT_EQ(cv::countNonZero(out.reshape(1) == 200), 4 * 2 * 3);
  EXPECT_EQ(cv::countNonZero(out.reshape(1) == 3), 5 * 6 - 4 * 2);
  EXPECT_THROW(paste->shape({4, 2, 1}), ConfigError);
  EXPECT_THROW(paste->shape({6, 2, 3}), ConfigError);
  EXPECT_THROW(drawn(*paste, {7, 2}), DataError);
}

}  // namespace
}  // namespace tpack
