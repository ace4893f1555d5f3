#include <cmath>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

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
    Rng rng(static_cast<uint64_t>(i));
    const auto transform = crop->draw(size, rng);
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
