#include <map>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(RandomOrderAug, draws_every_order) {
  const auto made =
      augmentor("RandomOrderAug", list({item("Invert", {}), item("BrightnessScale", list({0.5, 0.5}))}));
  const cv::Mat pixel(1, 1, CV_8UC1, cv::Scalar(100));
  std::map<int, int> values;
  for (uint64_t seed = 0; seed < 10000; ++seed) ++values[applied(*made, pixel, seed).at<uint8_t>(0, 0)];
  ASSERT_EQ(values.size(), 2);
  EXPECT_NEAR(values[78], 5000, 250);   // (255 - 100) / 2; 5 standard deviations
  EXPECT_NEAR(values[205], 5000, 250);  // 255 - 100 / 2
  EXPECT_EQ(made->shape({9, 9, 3}), (Shape{9, 9, 3}));
  const auto crops = augmentor("RandomOrderAug", list({item("RandomCrop", 4), item("Invert", {})}));
  EXPECT_THROW(crops->shape({9, 9, 3}), ConfigError);
  EXPECT_THROW(augmentor("RandomOrderAug", list({item("Invert", {})})), ConfigError);
}

}  // namespace
}  // namespace tpack
