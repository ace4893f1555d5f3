#include "draw/annotation.h"

#include <limits>

#include <gtest/gtest.h>

namespace tpack {
namespace {

constexpr RgbColor kRed = {255, 0, 0};

/// Rows of a picture, '#' where it is red.
std::vector<std::string> red_in(const Tensor& picture) {
  std::vector<std::string> rows;
  for (int64_t y = 0; y < picture.shape()[0]; ++y) {
    rows.emplace_back();
    for (int64_t x = 0; x < picture.shape()[1]; ++x)
      rows.back() += picture.at((y * picture.shape()[1] + x) * 3) == 255 ? '#' : '.';
  }
  return rows;
}
Tensor black(int64_t height, int64_t width) { return Tensor::zeros({DType::kUInt8, {height, width, 3}}); }

TEST(Annotation, boxes_are_outlines_within_the_box) {
  Tensor picture = black(6, 8);
  draw_box(picture, {1, 1, 6, 5}, kRed, 1);
  EXPECT_EQ(red_in(picture), (std::vector<std::string>{"........", ".#####..", ".#...#..", ".#...#..",
                                                       ".#####..", "........"}));
}

TEST(Annotation, boxes_with_parts_of_pixels_have_these_pixels) {
  Tensor picture = black(4, 4);
  draw_box(picture, {0.5, 0.5, 2.5, 2.5}, kRed, 1);
  EXPECT_EQ(red_in(picture), (std::vector<std::string>{"###.", "#.#.", "###.", "...."}));
}

TEST(Annotation, what_is_outside_of_the_picture_is_not_drawn) {
  Tensor picture = black(3, 3);
  draw_box(picture, {-5, -5, 2, 2}, kRed, 1);
  EXPECT_EQ(red_in(picture), (std::vector<std::string>{".#.", "##.", "..."}));
  Tensor other = black(3, 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  draw_box(other, {5, 5, 9, 9}, kRed);
  draw_box(other, {-1e300, -1e300, -1e299, 1e300}, kRed);
  draw_box(other, {nan, 0, 1, 1}, kRed);
  draw_point(other, nan, 1, kRed);
  draw_point(other, 1e300, 1, kRed);
  EXPECT_EQ(red_in(other), (std::vector<std::string>{"...", "...", "..."}));
}

TEST(Annotation, empty_boxes_are_a_pixel) {
  Tensor picture = black(3, 3);
  draw_box(picture, {1, 1, 1, 1}, kRed);
  EXPECT_EQ(red_in(picture), (std::vector<std::string>{"...", ".#.", "..."}));
}

TEST(Annotation, points_are_crosses) {
  Tensor picture = black(5, 5);
  draw_point(picture, 2.7, 1.2, kRed, 1);
  EXPECT_EQ(red_in(picture), (std::vector<std::string>{"..#..", ".###.", "..#..", ".....", "....."}));
}

TEST(Annotation, masks_are_half_over_the_image_and_class_0_is_not) {
  const Tensor image = Tensor::of<uint8_t>({1, 3, 1}, {100, 100, 100});
  const Tensor mask = Tensor::of<uint8_t>({1, 3}, {0, 1, 200});
  const std::vector<RgbColor> colors = {{9, 9, 9}, {200, 0, 50}};
  const Tensor out = overlaid(image, mask, colors);
  EXPECT_TRUE(bit_equal(out, Tensor::of<uint8_t>({1, 3, 3}, {100, 100, 100, 150, 50, 75, 100, 100, 100})));
}

}  // namespace
}  // namespace tpack
