#include "data_tools/perceptual_hash.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "infer/pictures.h"

namespace tpack {
namespace {

int distance(const Tensor& a, const Tensor& b) {
  return std::popcount(perceptual_hash(a).value() ^ perceptual_hash(b).value());
}

TEST(PerceptualHash, stays_under_another_size_contrast_and_brightness) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Tensor picture = waves(seed);
    EXPECT_LE(distance(picture, waves(seed, 96, 128)), kNearBits) << seed;
    EXPECT_LE(distance(picture, waves(seed, 48, 64, 0.8, 10)), kNearBits) << seed;
  }
}

TEST(PerceptualHash, of_pictures_smaller_than_it_looks_at_is_that_of_the_same_pixels_enlarged) {
  const Tensor small = waves(2, 12, 20);
  Tensor large(DType::kUInt8, {24, 40, 3});
  for (int64_t i = 0; i < large.elements(); ++i) {
    const int64_t row = i / 120 / 2;
    const int64_t column = i / 3 % 40 / 2;
    large.data<uint8_t>()[i] = small.data<uint8_t>()[(row * 20 + column) * 3 + i % 3];
  }
  EXPECT_EQ(distance(small, large), 0);
}

TEST(PerceptualHash, of_other_pictures_is_another_one) {
  for (uint64_t a = 1; a <= 20; ++a)
    for (uint64_t b = 1; b < a; ++b) EXPECT_GT(distance(waves(a), waves(b)), kNearBits) << a << " " << b;
}

TEST(PerceptualHash, half_of_the_bits_are_set) {
  for (uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_EQ(std::popcount(perceptual_hash(waves(seed)).value()), 32) << seed;
}

TEST(PerceptualHash, pictures_with_too_little_in_them_have_none) {
  EXPECT_FALSE(perceptual_hash(blank(0)));
  EXPECT_FALSE(perceptual_hash(blank(200)));
  EXPECT_FALSE(perceptual_hash(blank(9, 1, 1)));
  EXPECT_FALSE(perceptual_hash(waves(1, 48, 64, 0.02))) << "as good as blank";
  Tensor stripes = blank(0);
  for (int64_t i = 0; i < stripes.elements(); ++i)
    stripes.data<uint8_t>()[i] = static_cast<uint8_t>(i / (64 * 3) * 5);
  EXPECT_FALSE(perceptual_hash(stripes)) << "nothing changes from left to right";
  Tensor noise = blank(0);
  Rng rng(3);
  for (int64_t i = 0; i < noise.elements(); ++i)
    noise.data<uint8_t>()[i] = static_cast<uint8_t>(rng.range(98, 102));
  EXPECT_FALSE(perceptual_hash(noise));
}

TEST(PerceptualHash, of_16_bits_is_that_of_8) {
  const Tensor picture = waves(7);
  Tensor deep(DType::kFloat32, picture.shape());
  for (int64_t i = 0; i < picture.elements(); ++i)
    deep.data<float>()[i] = static_cast<float>(picture.at(i) * 257);
  EXPECT_EQ(perceptual_hash(picture), perceptual_hash(deep));
  deep.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(perceptual_hash(deep));
}

}  // namespace
}  // namespace tpack
