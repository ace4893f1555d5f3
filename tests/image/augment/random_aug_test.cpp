#include <cmath>
#include <map>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

/// In 10,000 draws; bounds are four standard deviations.
TEST(Augmentors, happen_as_often_as_asked) {
  const std::vector<std::tuple<std::string, ConfigNode, double>> rows = {
      {"Flip", {{"prob", 0.3}}, 0.3},
      {"RandomErasing", {{"prob", 0.3}}, 0.3},
      {"RandomApplyAug", {{"aug", item("CenterCrop", 4)}, {"prob", 0.25}}, 0.25}};
  for (const auto& [name, params, share] : rows) {
    const auto made = augmentor(name, params);
    int runs = 0;
    for (uint64_t seed = 0; seed < 10000; ++seed) runs += drawn(*made, {100, 100}, seed) != nullptr ? 1 : 0;
    EXPECT_NEAR(runs, 10000 * share, 4 * std::sqrt(10000 * share * (1 - share))) << name;
  }
}

TEST(RandomApplyAug, knows_only_the_sizes_that_do_not_depend_on_it) {
  const auto aug = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", list({4, 8}))}});
  EXPECT_EQ(aug->shape({8, 8, 3}).str(), "[?, 8, 3]");
}

TEST(RandomApplyAug, rejects_what_the_other_rejects_if_it_ever_runs) {
  const auto sometimes = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.1}});
  EXPECT_NE(error_of([&] { sometimes->shorter_side(60); }), "no error");
  EXPECT_EQ(sometimes->shorter_side(64), 64);
  EXPECT_EQ(sometimes->shorter_side(100), std::nullopt);
  const auto never = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.0}});
  EXPECT_EQ(never->shorter_side(60), 60);
}

TEST(RandomChooseAug, chooses_by_weight) {
  const auto augs = list({item("CenterCrop", 4), item("CenterCrop", 5), item("CenterCrop", 6)});
  const auto chosen = augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({3, 0, 1})}});
  std::map<int, int> sides;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    ++sides[drawn(*chosen, {9, 9}, seed)->size({9, 9}).width];
  }
  EXPECT_NEAR(sides[4], 7500, 217);  // 5 standard deviations
  EXPECT_EQ(sides[5], 0);
  EXPECT_NEAR(sides[6], 2500, 217);
  EXPECT_EQ(chosen->center({9, 9})->size({9, 9}), (ImageSize{4, 4}));
  EXPECT_EQ(chosen->shape({9, 9, 3}), (Shape{Shape::kUnknown, Shape::kUnknown, 3}));
  EXPECT_EQ(chosen->shorter_side(9), std::nullopt);
  const auto same = augmentor("RandomChooseAug", list({item("CenterCrop", 4), item("RandomCrop", 4)}));
  EXPECT_EQ(same->shape({9, 9, 3}), (Shape{4, 4, 3}));
  EXPECT_EQ(same->shorter_side(9), 4);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({1})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({0, 0, 0})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", list({})), ConfigError);
}

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
