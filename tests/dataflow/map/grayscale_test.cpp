#include <gtest/gtest.h>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/tensor_map.h"

namespace tpack {
namespace {

/// The weights of ITU-R BT.601: red 0.299, green 0.587, blue 0.114.
TEST(Grayscale, weighs_red_green_and_blue) {
  const auto gray = Registry<TensorMap>::make("Grayscale");
  const TensorSpec spec{DType::kUInt8, {1, 4, 3}};
  EXPECT_EQ(gray->spec(spec).str(), "uint8 [1, 4, 1]");
  const Tensor out(gray->spec(spec));
  gray->apply(Tensor::of<uint8_t>({1, 4, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9}), out);
  EXPECT_TRUE(bit_equal(out, Tensor::of<uint8_t>({1, 4, 1}, {76, 150, 29, 9})));
  const Tensor batch = Tensor::of<float>({2, 1, 1, 3}, {1, 0, 0, 0, 0, 2});
  const Tensor gray_batch(gray->spec(batch.spec()));
  gray->apply(batch, gray_batch);
  EXPECT_LT(max_difference(gray_batch, Tensor::of<float>({2, 1, 1, 1}, {0.299F, 0.228F})), 1e-6);
}

TEST(Grayscale, keeps_gray_images_and_rejects_what_is_no_image) {
  const auto gray = Registry<TensorMap>::make("Grayscale");
  const Tensor image = Tensor::of<uint8_t>({1, 2, 1}, {3, 4});
  const Tensor out(gray->spec(image.spec()));
  gray->apply(image, out);
  EXPECT_TRUE(bit_equal(out, image));
  EXPECT_EQ(gray->spec({DType::kUInt8, {Shape::kUnknown, Shape::kUnknown, 3}}).str(), "uint8 [?, ?, 1]");
  EXPECT_THROW(gray->spec({DType::kUInt8, {4, 4, 2}}), ConfigError);
  EXPECT_THROW(gray->spec({DType::kInt32, {4, 4, 3}}), ConfigError);
  EXPECT_THROW(gray->spec({DType::kUInt8, {}}), ConfigError);
}

}  // namespace
}  // namespace tpack
