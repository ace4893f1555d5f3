#include "predict/output_images.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

Tensor numbers(std::initializer_list<float> values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(LikelyRange, is_that_of_the_final_function) {
  const std::vector<Tensor> bright = {numbers({250, 3})};
  EXPECT_EQ(likely_range(kProbabilities, bright), (PixelRange{0, 1}));
  EXPECT_EQ(likely_range(OutputMeaning{-1, 1}, bright), (PixelRange{-1, 1}));
}

/// A network that learns pixels leaves their range somewhat.
TEST(LikelyRange, is_found_from_the_values_of_all_samples) {
  const auto found = [](std::vector<Tensor> values) { return likely_range(OutputMeaning(), values); };
  EXPECT_EQ(found({numbers({0.1F, 0.9F}), numbers({-0.2F, 1.3F})}), (PixelRange{0, 1}));
  EXPECT_EQ(found({numbers({0.1F, 0.9F}), numbers({-0.9F, 1.2F})}), (PixelRange{-1, 1}));
  EXPECT_EQ(found({numbers({0.1F, 0.9F}), numbers({-20, 270})}), (PixelRange{0, 255}));
  EXPECT_EQ(found({numbers({0.1F, 0.9F}), numbers({-20, 40000})}), (PixelRange{0, 65535}));
}

TEST(OutputImages, draw_the_ends_of_the_range_black_and_white) {
  const OutputForm form{{DType::kFloat32, {1, 1, 3}}};
  const OutputImages images({});
  ASSERT_TRUE(images.is_image(form));
  const Tensor value = Tensor::of<float>({1, 1, 3}, {-1, 0, 1});
  const Tensor pixels = images.pixels(form, value, {-1, 1});
  EXPECT_EQ(pixels.at(0), 0);
  EXPECT_EQ(pixels.at(1), 127.5);
  EXPECT_EQ(pixels.at(2), 255);
}

}  // namespace
}  // namespace tpack
