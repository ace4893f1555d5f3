#include <algorithm>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(RandomResize, draws_factors_that_keep_the_ratio) {
  const auto made = augmentor("RandomResize", {{"x_range", list({0.5, 2})},
                                               {"y_range", list({0.5, 2})},
                                               {"minimum", list({60, 50})},
                                               {"aspect_ratio_thres", 0.1}});
  const ImageSize size{100, 80};
  ImageSize least{1000, 1000};
  ImageSize most{0, 0};
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    const auto transform = made->draw(size, rng);
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
  Rng rng(3);
  const ImageSize to = kept->draw(size, rng)->size(size);
  EXPECT_NEAR(to.width / 100.0, to.height / 80.0, 0.01);
}

const live::Fields kRandomResize(
    "augmentor", "RandomResize",
    {.values = {{"x_range", "[0.7, 0.9]"}, {"y_range", "[0.7, 0.9]"}, {"minimum", "200"}}});

}  // namespace
}  // namespace tpack
