#include "draw/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include "core/error.h"

namespace tpack {
namespace {

/// The pixels of a PNG as libpng reads them.
std::vector<uint8_t> decoded(const PngImage& image, uint32_t format) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&header, image.png.data(), image.png.size()), 0);
  EXPECT_EQ(header.width, image.width);
  EXPECT_EQ(header.height, image.height);
  header.format = format;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(header));
  EXPECT_NE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr), 0);
  return pixels;
}

TEST(PngEncoder, keeps_every_pixel) {
  const std::vector<uint8_t> rgb = {1, 2, 3, 4, 5, 6, 255, 0, 128, 7, 8, 9};
  const auto images = encode_png(Tensor::of<uint8_t>({2, 2, 3}, rgb));
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(images[0].channels, 3);
  EXPECT_EQ(decoded(images[0], PNG_FORMAT_RGB), rgb);
}

TEST(PngEncoder, rounds_and_clamps_floats) {
  const auto images = encode_png(Tensor::of<float>({1, 4}, {-5.0F, 0.6F, 254.5F, 300.0F}));
  EXPECT_EQ(decoded(images[0], PNG_FORMAT_GRAY), (std::vector<uint8_t>{0, 1, 255, 255}));
}

TEST(PngEncoder, encodes_each_picture_of_a_batch) {
  const auto images = encode_png(Tensor::of<uint8_t>({2, 1, 1, 4}, {1, 2, 3, 255, 5, 6, 7, 255}));
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(decoded(images[1], PNG_FORMAT_RGBA), (std::vector<uint8_t>{5, 6, 7, 255}));
}

TEST(PngEncoder, rejects_what_is_not_an_image) {
  EXPECT_THROW(encode_png(Tensor(DType::kUInt8, {5})), ShapeError);
  EXPECT_THROW(encode_png(Tensor(DType::kUInt8, {5, 5, 2})), ShapeError);
  EXPECT_THROW(encode_png(Tensor(DType::kInt32, {5, 5})), ShapeError);
  EXPECT_THROW(encode_png(Tensor(DType::kUInt8, {0, 5})), ShapeError);
}

}  // namespace
}  // namespace tpack
