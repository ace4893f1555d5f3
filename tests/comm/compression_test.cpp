#include "comm/compression.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::vector<float> through(const std::vector<float>& values, Compression compression) {
  std::vector<uint16_t> wire(values.size());
  compress(values, wire, compression);
  std::vector<float> back(values.size());
  expand(wire, back, compression);
  return back;
}

TEST(Compression, keeps_what_16_bits_can_hold) {
  // Longer than a vector of any processor, and no multiple of one.
  std::vector<float> values = {0, -0.0F, 1, -1, 0.5, 1.5, -3.25, 96, 1024, -2, 0.125};
  while (values.size() < 37) values.push_back(static_cast<float>(values.size()));
  for (const Compression compression : {Compression::kFp16, Compression::kBf16}) {
    const std::vector<float> back = through(values, compression);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(values[i])) << values[i];
  }
}

// The bits are those of IEEE 754 binary16 and of bfloat16.
TEST(Compression, has_the_bits_of_the_formats) {
  const std::vector<float> values = {1.0F, -2.0F, 65504.0F, 0.333251953125F};
  std::vector<uint16_t> wire(values.size());
  compress(values, wire, Compression::kFp16);
  EXPECT_EQ(wire, (std::vector<uint16_t>{0x3C00, 0xC000, 0x7BFF, 0x3555}));
  compress(values, wire, Compression::kBf16);
  EXPECT_EQ(wire, (std::vector<uint16_t>{0x3F80, 0xC000, 0x4780, 0x3EAB}));
}

TEST(Compression, rounds_to_the_nearest_and_ties_to_even) {
  const float fp16_step = std::ldexp(1.0F, -10);
  EXPECT_EQ(through({1 + 0.4F * fp16_step, 1 + 0.6F * fp16_step, 1 + 0.5F * fp16_step, 1 + 1.5F * fp16_step},
                    Compression::kFp16),
            (std::vector<float>{1, 1 + fp16_step, 1, 1 + 2 * fp16_step}));
  const float bf16_step = std::ldexp(1.0F, -7);
  EXPECT_EQ(through({1 + 0.4F * bf16_step, 1 + 0.6F * bf16_step, 1 + 0.5F * bf16_step, 1 + 1.5F * bf16_step},
                    Compression::kBf16),
            (std::vector<float>{1, 1 + bf16_step, 1, 1 + 2 * bf16_step}));
}

TEST(Compression, keeps_what_is_not_finite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Compression compression : {Compression::kFp16, Compression::kBf16}) {
    const std::vector<float> back = through({infinity, -infinity, std::nanf("")}, compression);
    EXPECT_EQ(back[0], infinity);
    EXPECT_EQ(back[1], -infinity);
    EXPECT_TRUE(std::isnan(back[2]));
  }
  EXPECT_EQ(through({1e6F}, Compression::kFp16)[0], infinity);
  EXPECT_NEAR(through({1e6F}, Compression::kBf16)[0], 1e6F, 4e3F);
}

}  // namespace
}  // namespace tpack
