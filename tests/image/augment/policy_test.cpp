#include "image/augment/policy.h"

#include <cmath>
#include <map>

#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

std::unique_ptr<Transform> op(PolicyOp name, double share, bool is_negative = false) {
  return make_policy_op(name, share, is_negative, {200, 100}, {}, Border::of({}));
}
Point moved(PolicyOp name, double share, bool is_negative, const Point& p) {
  return op(name, share, is_negative)->point(p, {200, 100});
}
int pixel(PolicyOp name, double share, int value) {
  cv::Mat m(1, 2, CV_8UC1, cv::Scalar(value));
  op(name, share)->image(m);
  return m.at<uint8_t>(0, 0);
}

/// At full magnitude, as the papers and torchvision say.
TEST(PolicyOp, has_the_magnitudes_of_the_papers) {
  EXPECT_NEAR(moved(PolicyOp::kShearX, 1, true, {0, 100}).x, 30, 1e-9);
  EXPECT_NEAR(moved(PolicyOp::kShearY, 1, false, {100, 0}).y, -30, 1e-9);
  EXPECT_EQ(moved(PolicyOp::kTranslateX, 1, false, {0, 0}).x, 90);  // 200 * 150 / 331, cut
  EXPECT_EQ(moved(PolicyOp::kTranslateY, 1, true, {0, 0}).y, -45);
  const Point turned = moved(PolicyOp::kRotate, 1, false, {200, 50});  // 30 degrees around the middle
  EXPECT_NEAR(turned.x, 100 + 100 * std::sqrt(0.75), 1e-9);
  EXPECT_NEAR(turned.y, 50 - 50, 1e-9);
  EXPECT_EQ(pixel(PolicyOp::kBrightness, 1, 100), 190);
  EXPECT_EQ(pixel(PolicyOp::kPosterize, 1, 0xFF), 0xF0);
  EXPECT_EQ(pixel(PolicyOp::kPosterize, 0.5, 0xFF), 0xFC);
  EXPECT_EQ(pixel(PolicyOp::kSolarize, 1, 200), 55);
  EXPECT_EQ(pixel(PolicyOp::kSolarize, 0, 200), 200);
  EXPECT_EQ(pixel(PolicyOp::kInvert, 0, 200), 55);
  EXPECT_EQ(op(PolicyOp::kIdentity, 1), nullptr);
}

/// Drawn 10,000 times, each of the 14 operations comes as often as the others. The one that changes nothing
/// gives no transform. Bounds: 5 standard deviations.
TEST(RandAugment, draws_each_operation_as_often) {
  const auto one = augmentor("RandAugment", {{"n", 1}, {"magnitude", 30}});
  int none = 0;
  int left = 0;
  int right = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto transform = drawn(*one, {200, 100}, seed);
    if (transform == nullptr) {
      ++none;
      continue;
    }
    const Point p = transform->point({0, 0}, {200, 100});
    if (p.x == 90 && p.y == 0) ++right;
    if (p.x == -90 && p.y == 0) ++left;
  }
  EXPECT_NEAR(none, 10000 / 14.0, 129);
  EXPECT_NEAR(right, 10000 / 28.0, 93);
  EXPECT_NEAR(left, 10000 / 28.0, 93);
}

TEST(RandAugment, runs_n_operations) {
  const auto five = augmentor("RandAugment", {{"n", 5}});
  size_t most = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto transform = drawn(*five, {200, 100}, seed);
    most = std::max(most, transform->parts().size());
    EXPECT_LE(transform->parts().size(), 5);
  }
  EXPECT_EQ(most, 5);
}

/// Translations reach 32 pixels in steps of 32 / 30, cut to whole ones.
TEST(TrivialAugment, draws_every_magnitude) {
  const auto wide = augmentor("TrivialAugmentWide", {});
  std::map<double, int> moves;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto transform = drawn(*wide, {200, 100}, seed);
    if (transform == nullptr) continue;
    const Point p = transform->point({0, 0}, {200, 100});
    const Point q = transform->point({50, 70}, {200, 100});
    if (p.y == 0 && p.x != 0 && q.x - p.x == 50) ++moves[p.x];
  }
  EXPECT_EQ(moves.begin()->first, -32);
  EXPECT_EQ(moves.rbegin()->first, 32);
  EXPECT_GT(moves.size(), 50);
}

/// How often pixels move in 10,000 draws.
TEST(AutoAugment, runs_operations_with_the_probabilities_of_the_paper) {
  struct Expected {
    const char* policy;
    double moves;
  };
  // Sums over the 25 pairs of 1 - (1 - p)(1 - q), with p and q of steps that move pixels.
  constexpr double kImageNetMoves = (0.6 + 0.8 + 0.2 + 0.8 + 0.4 + 0.8 + 0.6) / 25;
  constexpr double kCifarMoves =
      ((1 - 0.3 * 0.7) + (1 - 0.5 * 0.3) + 0.2 + 0.5 + 0.4 + (1 - 0.1 * 0.3) + 0.7) / 25;
  for (const Expected& one : {Expected{"imagenet", kImageNetMoves}, Expected{"cifar10", kCifarMoves}}) {
    const auto made = augmentor("AutoAugment", one.policy);
    int moves = 0;
    for (uint64_t seed = 0; seed < 10000; ++seed) {
      const auto transform = drawn(*made, {200, 150}, seed);
      if (transform == nullptr) continue;
      const Point p = transform->point({13, 17}, {200, 150});
      if (p.x != 13 || p.y != 17) ++moves;
    }
    EXPECT_NEAR(moves / 10000.0, one.moves, 0.025) << one.policy;  // 5 standard deviations
  }
}

}  // namespace
}  // namespace tpack
