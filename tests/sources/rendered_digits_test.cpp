#include <algorithm>
#include <map>
#include <set>

#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Pixels of sample `index` of a pass.
Bytes picture(const std::string& split, const Pass& pass, const std::string& difficulty = "1") {
  const Datapoint d = first_sample(
      yaml_flow("[RenderedDigits: {split: " + split + ", difficulty: " + difficulty + "}]"), pass);
  const auto pixels = d.tensor(0).span<uint8_t>();
  return {pixels.begin(), pixels.end()};
}

TEST(RenderedDigits, training_pictures_differ_in_each_pass_and_seed_and_test_pictures_never) {
  const auto first = picture("train", {.seed = 1});
  EXPECT_EQ(first, picture("train", {.seed = 1}));
  EXPECT_NE(first, picture("train", {.seed = 2}));
  EXPECT_NE(first, picture("train", {.seed = 1, .pass = 1}));
  EXPECT_EQ(picture("test", {.seed = 1}), picture("test", {.seed = 2, .pass = 5}));
}

TEST(RenderedDigits, has_all_digits_about_equally_often) {
  const DataFlow flow = yaml_flow("[RenderedDigits: {split: test, resolution: 32}]");
  EXPECT_EQ(flow.spec()[0].tensor.str(), "uint8 [32, 32, 1]");
  EXPECT_EQ(flow.size(), 5000);
  std::vector<int> count(10);
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) ++count[static_cast<size_t>(d.tensor(1).at(0))];
  double chi_square = 0;
  for (const int seen : count) chi_square += (seen - 500) * (seen - 500) / 500.0;
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
}

TEST(RenderedDigits, without_difficulty_paper_is_black_and_ink_is_white) {
  const auto pixels = picture("test", {}, "0");
  EXPECT_EQ(*std::min_element(pixels.begin(), pixels.end()), 0);
  EXPECT_GT(*std::max_element(pixels.begin(), pixels.end()), 200);
  EXPECT_EQ(pixels[0], 0);
}

constexpr int kSide = 48;  // at this resolution and without difficulty, an image is its glyph

using Glyphs = std::map<int, std::set<std::string>>;  // pixels, by digit

/// Every glyph of a split: with this many images, each appears about 16 times or more.
Glyphs glyphs_of(const std::string& split) {
  const DataFlow flow =
      yaml_flow("[RenderedDigits: {size: 4000, resolution: 48, difficulty: 0, split: " + split + "}]");
  Glyphs glyphs;
  const auto cursor = flow.open({.seed = 1});
  for (Datapoint d; cursor->next(d);) {
    const auto pixels = d.tensor(0).span<uint8_t>();
    glyphs[static_cast<int>(d.tensor(1).at(0))].emplace(pixels.begin(), pixels.end());
  }
  return glyphs;
}

/// The digit, cropped, with `right` and `down` pixels of paper before it.
cv::Mat placed(const std::string& glyph, int right, int down) {
  cv::Mat whole(kSide, kSide, CV_8U);
  std::copy(glyph.begin(), glyph.end(), whole.data);
  const cv::Mat ink = whole(cv::boundingRect(whole > 64));
  cv::Mat out(kSide + 8, kSide + 8, CV_8U, cv::Scalar::all(0));
  ink.copyTo(out(cv::Rect(right, down, ink.cols, ink.rows)));
  return out;
}

/// Of the pixels that have ink in one of two glyphs, the share that differ clearly when the glyphs are
/// aligned as well as possible.
double difference(const std::string& a, const std::string& b) {
  const cv::Mat first = placed(a, 2, 2);
  double least = 1;
  for (int right = 0; right <= 4; ++right) {
    for (int down = 0; down <= 4; ++down) {
      const cv::Mat second = placed(b, right, down);
      cv::Mat apart;
      cv::absdiff(first, second, apart);
      const int inked = cv::countNonZero((first > 64) | (second > 64));
      least = std::min(least, cv::countNonZero(apart > 64) / static_cast<double>(inked));
    }
  }
  return least;
}

TEST(RenderedDigits, no_glyph_of_validation_looks_like_one_of_training) {
  const Glyphs train = glyphs_of("train");
  const Glyphs test = glyphs_of("test");
  for (int digit = 0; digit < 10; ++digit) {
    // Three strokes of at least five and three fonts.
    EXPECT_GE(train.at(digit).size(), 15U) << digit;
    EXPECT_GE(test.at(digit).size(), 9U) << digit;
    for (const auto& shown : train.at(digit)) {
      for (const auto& unseen : test.at(digit)) EXPECT_GT(difference(shown, unseen), 0.1) << digit;
    }
  }
}

const live::Fields kRenderedDigits("source", "RenderedDigits",
                                   {.base = "{size: 4}",
                                    .values = {{"resolution", "20"}, {"difficulty", "0.5"}}});

TEST(RenderedShapes, have_a_class_for_each_pixel) {
  const DataFlow flow = yaml_flow("[RenderedShapes: {size: 50}]");
  EXPECT_EQ(flow.spec().str(), "image uint8 [64, 64, 3], mask uint8 [64, 64]");
  std::set<int> classes;
  const auto cursor = flow.open({.seed = 1});
  Datapoint d;
  while (cursor->next(d)) {
    for (const uint8_t value : d.tensor(1).span<uint8_t>()) classes.insert(value);
  }
  EXPECT_THAT(classes, testing::ElementsAre(0, 1, 2, 3));
}

TEST(RenderedShapes, of_the_test_are_always_the_same) {
  const auto first = [](const std::string& split, uint64_t seed) {
    return first_sample(yaml_flow("[RenderedShapes: {split: " + split + "}]"), {.seed = seed})
        .to_tensor(0)
        .clone();
  };
  EXPECT_TRUE(bit_equal(first("test", 1), first("test", 2)));
  EXPECT_FALSE(bit_equal(first("train", 1), first("train", 2)));
}

const live::Fields kRenderedShapes("source", "RenderedShapes", {.values = {{"resolution", "32"}}});

}  // namespace
}  // namespace tpack
