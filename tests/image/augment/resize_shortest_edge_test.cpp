#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

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

}  // namespace
}  // namespace tpack
