#include "image/contours.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::ElementsAre;
using Corner = std::array<int, 2>;

TEST(Contours, have_the_corners_and_holes_of_each_area) {
  const Tensor mask = Tensor::of<uint8_t>({6, 8}, {0, 0, 0, 0, 0, 0, 0, 2,  //
                                                   0, 1, 1, 1, 1, 0, 0, 0,  //
                                                   0, 1, 0, 0, 1, 0, 0, 0,  //
                                                   0, 1, 1, 1, 1, 0, 0, 0,  //
                                                   0, 0, 0, 0, 0, 0, 1, 0,  //
                                                   3, 0, 0, 0, 0, 0, 0, 0});
  const std::vector<Contour> all = contours_of(mask);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].label, 1);
  EXPECT_THAT(all[0].outline, ElementsAre(Corner{1, 1}, Corner{1, 3}, Corner{4, 3}, Corner{4, 1}));
  ASSERT_EQ(all[0].holes.size(), 1U);
  EXPECT_EQ(all[0].pixels, 10);
  EXPECT_EQ(all[1].label, 1) << "from top to bottom";
  EXPECT_THAT(all[1].outline, ElementsAre(Corner{6, 4}));
  EXPECT_EQ(all[2].label, 2);
  EXPECT_EQ(all[3].label, 3);
  EXPECT_EQ(all[3].pixels, 1);
}

TEST(Contours, of_a_mask_of_one_class_are_its_edges_or_none) {
  EXPECT_TRUE(contours_of(Tensor::of<int32_t>({2, 2}, {0, 0, 0, 0})).empty());
  const std::vector<Contour> all = contours_of(Tensor::of<int32_t>({3, 4}, std::vector<int32_t>(12, 5)));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].pixels, 12);
  EXPECT_THAT(all[0].outline, ElementsAre(Corner{0, 0}, Corner{0, 2}, Corner{3, 2}, Corner{3, 0}));
}

}  // namespace
}  // namespace tpack
