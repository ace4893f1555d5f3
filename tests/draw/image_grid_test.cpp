#include "draw/image_grid.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

/// [2, 3, C] with these values.
Tensor image_of(std::initializer_list<float> values, int64_t channels = 1) {
  Tensor image(DType::kFloat32, {2, 3, channels});
  std::copy(values.begin(), values.end(), image.data<float>());
  return image;
}

TEST(ImageGrid, has_the_images_in_rows) {
  const Tensor a = image_of({1, 2, 3, 4, 5, 6});
  const Tensor b = image_of({11, 12, 13, 14, 15, 16});
  const Tensor c = image_of({21, 22, 23, 24, 25, 26});
  const Tensor grid = image_grid(std::vector{a, b, c}, 2);
  ASSERT_EQ(grid.shape(), (Shape{7, 9, 1}));
  const float gap = 128;
  const std::vector<float> expected = {gap, gap, gap, gap, gap, gap, gap, gap, gap,  //
                                       gap, 1,   2,   3,   gap, 11,  12,  13,  gap,  //
                                       gap, 4,   5,   6,   gap, 14,  15,  16,  gap,  //
                                       gap, gap, gap, gap, gap, gap, gap, gap, gap,  //
                                       gap, 21,  22,  23,  gap, gap, gap, gap, gap,  //
                                       gap, 24,  25,  26,  gap, gap, gap, gap, gap,  //
                                       gap, gap, gap, gap, gap, gap, gap, gap, gap};
  for (int64_t i = 0; i < grid.elements(); ++i)
    EXPECT_EQ(grid.at(i), expected.at(static_cast<size_t>(i))) << i;
}

TEST(ImageGrid, makes_gray_images_rgb_next_to_others) {
  const Tensor gray = image_of({1, 2, 3, 4, 5, 6});
  const Tensor rgb = image_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, 3);
  const Tensor grid = image_grid(std::vector{gray, rgb}, 2);
  ASSERT_EQ(grid.shape(), (Shape{4, 9, 3}));
  const auto pixel = [&](int64_t y, int64_t x) {
    std::vector<double> values;
    for (int64_t c = 0; c < 3; ++c) values.push_back(grid.at((y * 9 + x) * 3 + c));
    return values;
  };
  EXPECT_EQ(pixel(1, 2), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(pixel(2, 7), (std::vector<double>{15, 16, 17}));
}

TEST(ImageGrid, rejects_what_does_not_fit_together) {
  EXPECT_THROW(image_grid({}, 2), ShapeError);
  const Tensor small(DType::kFloat32, {2, 2, 1});
  EXPECT_THROW(image_grid(std::vector{image_of({1, 2, 3, 4, 5, 6}), small}, 2), ShapeError);
  EXPECT_THROW(image_grid(std::vector{Tensor(DType::kFloat32, {2, 2, 2})}, 2), ShapeError);
  EXPECT_THROW(image_grid(std::vector{Tensor(DType::kUInt8, {2, 2, 1})}, 2), ShapeError);
}

}  // namespace
}  // namespace tpack
