#include "tensor/half.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack {
namespace {

template <class Half>
Half of_bits(uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}

template <class Half>
class HalfFloats : public testing::Test {};
using Halves = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(HalfFloats, Halves);

TYPED_TEST(HalfFloats, each_of_them_is_its_own_nearest) {
  for (uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
    const auto half = of_bits<TypeParam>(static_cast<uint16_t>(bits));
    const float value = half.value();
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(TypeParam(value).value())) << bits;
    } else {
      ASSERT_EQ(TypeParam(value).bits, bits);
    }
  }
}

/// By the definition: no other one is nearer, and halfway the even one is taken.
TYPED_TEST(HalfFloats, a_float_becomes_the_nearest) {
  Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    // Sizes from 2^-26, below the smallest Float16, to 2^15.
    const float x = std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(41)) - 26);
    const TypeParam near(x);
    const double distance = std::abs(static_cast<double>(near) - static_cast<double>(x));
    for (const int step : {-1, 1}) {
      const auto next = of_bits<TypeParam>(static_cast<uint16_t>(near.bits + step));
      const float value = next.value();
      if (!std::isfinite(value)) continue;
      const double other = std::abs(static_cast<double>(value) - static_cast<double>(x));
      ASSERT_LE(distance, other) << x;
      if (distance == other) {
        ASSERT_EQ(near.bits % 2, 0) << x;
      }
    }
  }
}

TYPED_TEST(HalfFloats, many_are_converted_as_one_is) {
  Rng rng(2);
  std::vector<float> values = {
      0, -0.0F, 1, std::numeric_limits<float>::infinity(), NAN, 65504, 65519, 65520.0F, 1e38F, -1e-7F, 3e-8F};
  while (values.size() < 101) values.push_back(rng.uniform(-10, 10));
  for (size_t n = 0; n <= values.size(); ++n) {
    std::vector<TypeParam> halves(n);
    convert(std::span(values).first(n), halves.data());
    std::vector<float> back(n);
    convert(std::span<const TypeParam>(halves), back.data());
    for (size_t i = 0; i < n; ++i) {
      const float expected = TypeParam(values[i]).value();
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(back[i]));
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(expected)) << values[i];
      }
    }
  }
}

// As PyTorch has them: torch.tensor(x).to(torch.bfloat16), torch.float16.
TEST(HalfBits, are_those_of_the_formats) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(0.1F).bits, 0x3DCD);
  EXPECT_EQ(BFloat16(3.4e38F).bits, 0x7F80);  // above the largest one
  EXPECT_EQ(Float16(0.1F).bits, 0x2E66);
  EXPECT_EQ(Float16(65504.0F).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(Float16(0x1p-24F).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-25F).bits, 0x0000);
  EXPECT_EQ(Float16(-0x1.8p-24F).bits, 0x8002);
}

}  // namespace
}  // namespace tpack
