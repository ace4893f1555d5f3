#include <algorithm>
#include <cmath>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

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

TEST(Resize, nearest_pixels_keep_their_values) {
  cv::Mat mask(60, 60, CV_8UC1);
  for (int i = 0; i < 3600; ++i) mask.data[i] = i % 7 < 3 ? 3 : 9;  // never 6
  const cv::Mat out = applied(*augmentor("Resize", {{"shape", 25}, {"interp", "nearest"}}), mask);
  for (int i = 0; i < 625; ++i) EXPECT_TRUE(out.data[i] == 3 || out.data[i] == 9);
}

TEST(ResizeShortestEdge, keeps_the_ratio_and_rounds_half_up) {
  const auto resize = augmentor("ResizeShortestEdge", 10);
  EXPECT_EQ(applied(*resize, photo(40, 30)).size(), cv::Size(13, 10));
  EXPECT_EQ(applied(*resize, photo(20, 33)).size(), cv::Size(10, 17));  // 16.5
  EXPECT_EQ(resize->shape({33, 20, 3}), (Shape{17, 10, 3}));
  EXPECT_EQ(resize->shape({Shape::kUnknown, 20, 3}).str(), "[?, ?, 3]");
}

TEST(ResizeShortestEdge, knows_the_shorter_side_of_images_of_any_size) {
  const auto resize = augmentor("ResizeShortestEdge", 60);
  EXPECT_EQ(resize->shorter_side(std::nullopt), 60);
  EXPECT_EQ(resize->shorter_side(33), 60);
  EXPECT_EQ(augmentor("Flip", {{"prob", 0.5}})->shorter_side(60), 60);
}

TEST(RandomResize, draws_factors_that_keep_the_ratio) {
  const auto made = augmentor("RandomResize", {{"x_range", list({0.5, 2})},
                                               {"y_range", list({0.5, 2})},
                                               {"minimum", list({60, 50})},
                                               {"aspect_ratio_thres", 0.1}});
  const ImageSize size{100, 80};
  ImageSize least{1000, 1000};
  ImageSize most{0, 0};
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto transform = drawn(*made, size, seed);
    if (transform == nullptr) continue;
    const ImageSize to = transform->size(size);
    EXPECT_NEAR(static_cast<double>(to.width) / to.height, 1.25, 0.125 + 1e-9);
    least = {std::min(least.width, to.width), std::min(least.height, to.height)};
    most = {std::max(most.width, to.width), std::max(most.height, to.height)};
  }
  EXPECT_EQ(least.height, 60);
  EXPECT_GE(least.width, 50);
  EXPECT_NEAR(most.width, 200, 2);
  EXPECT_NEAR(most.height, 160, 2);
  const auto kept = augmentor(
      "RandomResize", {{"x_range", list({0.5, 2})}, {"y_range", list({1, 1})}, {"aspect_ratio_thres", 0}});
  const ImageSize to = drawn(*kept, size, 3)->size(size);
  EXPECT_NEAR(to.width / 100.0, to.height / 80.0, 0.01);
}

const live::Fields kRandomResize(
    "augmentor", "RandomResize",
    {.values = {{"x_range", "[0.7, 0.9]"}, {"y_range", "[0.7, 0.9]"}, {"minimum", "200"}}});

Region piece_of(const Transform& transform) { return *transform.parts()[0]->crop(); }

/// 10,000 draws: the area is uniform, the logarithm of the ratio is, and every place is as likely. Bounds are
/// 5 standard errors of the mean, and the half pixels that sides are rounded by.
TEST(RandomResizedCrop, draws_areas_ratios_and_places) {
  const auto crop = augmentor("RandomResizedCrop", {{"shape", 32}, {"area", list({0.1, 0.4})}});
  const ImageSize size{1000, 1000};
  double area = 0;
  double log_ratio = 0;
  double place = 0;
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    const auto transform = drawn(*crop, size, static_cast<uint64_t>(i));
    EXPECT_EQ(transform->size(size), (ImageSize{32, 32}));
    const Region r = piece_of(*transform);
    const double share = static_cast<double>(r.width) * r.height / 1e6;
    const double ratio = static_cast<double>(r.width) / r.height;
    EXPECT_GE(share, 0.1 - 0.001);
    EXPECT_LE(share, 0.4 + 0.001);
    EXPECT_GE(ratio, 0.75 - 0.005);
    EXPECT_LE(ratio, 4.0 / 3 + 0.005);
    EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.x + r.width <= 1000 && r.y + r.height <= 1000);
    area += share / kDraws;
    log_ratio += std::log(ratio) / kDraws;
    place += (r.x / (1000.0 - r.width) + r.y / (1000.0 - r.height)) / 2 / kDraws;
  }
  EXPECT_NEAR(area, 0.25, 0.3 * 0.289 / 100 * 5);
  EXPECT_NEAR(log_ratio, 0, 2 * std::log(4.0 / 3) * 0.289 / 100 * 5);
  EXPECT_NEAR(place, 0.5, 0.289 / 100 * 5);
}

TEST(RandomResizedCrop, takes_the_middle_where_no_piece_fits) {
  const auto crop =
      augmentor("GoogleNetRandomCropAndResize", {{"shape", list({20, 30})}, {"area", list({1, 1})}});
  Rng rng(1);
  EXPECT_EQ(piece_of(*crop->draw({900, 300}, rng)), (Region{250, 0, 400, 300}));
  EXPECT_EQ(piece_of(*crop->draw({300, 900}, rng)), (Region{0, 250, 300, 400}));
  EXPECT_EQ(piece_of(*crop->center({310, 300})), (Region{0, 0, 310, 300}));
  EXPECT_EQ(crop->shape({Shape::kUnknown, Shape::kUnknown, 3}), (Shape{20, 30, 3}));
  EXPECT_EQ(crop->shorter_side(std::nullopt), 20);
  EXPECT_THROW(augmentor("RandomResizedCrop", {{"area", list({0.5, 0.1})}}), ConfigError);
}

TEST(RandomResizedCrop, takes_images_of_a_single_pixel) {
  const auto crop = augmentor("RandomResizedCrop", 8);
  const cv::Mat pixel(1, 1, CV_8UC3, cv::Scalar(1, 2, 3));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const cv::Mat out = applied(*crop, pixel, seed);
    EXPECT_EQ(largest_difference(out, cv::Mat(8, 8, CV_8UC3, cv::Scalar(1, 2, 3))), 0);
  }
}

const live::Fields kRandomResizedCrop("augmentor", "RandomResizedCrop", {.values = {{"ratio", "[1, 1]"}}});

}  // namespace
}  // namespace tpack
