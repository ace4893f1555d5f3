#include <opencv2/core.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Squares of half the period cover a quarter of the image, on average over the places of the grid.
TEST(GridMask, covers_its_share) {
  const auto grid = augmentor("GridMask", {{"period", list({10, 20})}, {"ratio", 0.5}, {"fill", 1}});
  const cv::Mat black = cv::Mat::zeros(100, 100, CV_8UC1);
  double sum = 0;
  constexpr int kDraws = 1000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) sum += cv::sum(applied(*grid, black, seed))[0];
  EXPECT_NEAR(sum / kDraws / 1e4, 0.25, 0.025);  // half of an odd period is rounded up
  const cv::Mat one =
      applied(*augmentor("GridMask", {{"period", list({8, 8})}, {"ratio", 0.25}, {"fill", 1}}),
              cv::Mat::zeros(80, 80, CV_8UC1));
  EXPECT_EQ(cv::sum(one)[0], 100 * 2 * 2) << "one square of 2 x 2 for each 8 x 8 pixels";
}

const live::Fields kGridMask("augmentor", "GridMask", {.values = {{"period", "[50, 60]"}}});

}  // namespace
}  // namespace tpack
