#include "infer/image_place.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::ElementsAre;

const Tensor kMask = Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 4});

TEST(ImagePlace, of_a_resized_picture) {
  const ImagePlace place{{4, 2}, {2, 2}, {{{0, 0}, {2, 0}, {0, 2}}}};
  EXPECT_TRUE(place.shows_all());
  EXPECT_THAT(mask_of_picture(kMask, place).span<uint8_t>(), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(ImagePlace, of_a_crop_has_nothing_outside) {
  const ImagePlace place{{4, 2}, {2, 2}, {{{-1, 0}, {3, 0}, {-1, 2}}}};
  EXPECT_FALSE(place.shows_all());
  EXPECT_THAT(mask_of_picture(kMask, place).span<uint8_t>(), ElementsAre(0, 1, 2, 0, 0, 3, 4, 0));
}

/// A corner of its own may be outside where the picture is turned.
TEST(ImagePlace, of_a_turned_picture_may_cut_any_corner) {
  EXPECT_TRUE((ImagePlace{{4, 4}, {8, 8}, {{{4, 0}, {8, 4}, {0, 4}}}}).shows_all())
      << "the last one is (4, 8)";
  EXPECT_FALSE((ImagePlace{{4, 4}, {8, 8}, {{{4, 2}, {8, 6}, {0, 6}}}}).shows_all())
      << "the last one is (4, 10)";
}

TEST(ImagePlace, may_be_mirrored_and_of_a_smaller_mask) {
  const ImagePlace place{{2, 2}, {8, 8}, {{{8, 0}, {0, 0}, {8, 8}}}};
  EXPECT_TRUE(place.shows_all());
  EXPECT_THAT(mask_of_picture(kMask, place).span<uint8_t>(), ElementsAre(2, 1, 4, 3));
}

}  // namespace
}  // namespace tpack
