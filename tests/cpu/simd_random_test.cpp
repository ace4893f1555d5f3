#include <vector>

#include <gtest/gtest.h>

#include "cpu/sweep/simd.h"
#include "ops/random_normal.h"
#include "ops/random_uniform.h"

namespace tpack::cpu {
namespace {

TEST(SimdRandom, uniform_draws_are_those_of_the_reference_from_any_start) {
  for (const uint64_t first : {0ULL, 1ULL, 6ULL, 64ULL, 4294967290ULL * 4}) {
    std::vector<float> out(133);
    simd::uniform(99, first, out.data(), out.size());
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], uniform_element(99, first + i)) << first << " + " << i;
  }
}

/// Also where the lower half of the counter overflows.
TEST(SimdRandom, normal_draws_have_the_bits_of_the_reference_from_any_start) {
  for (const uint64_t first : {0ULL, 3ULL, 17ULL, 0x3FFFFFFF2ULL}) {
    std::vector<float> out(200003);
    simd::normal(first + 7, first, out.data(), out.size());
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], normal_element(first + 7, first + i)) << first << " + " << i;
  }
}

TEST(SimdRandom, draws_nothing_behind_the_end) {
  for (size_t n = 0; n < 40; ++n) {
    std::vector<float> out(n + 1, 99);
    simd::normal(1, 2, out.data(), n);
    EXPECT_EQ(out[n], 99) << n;
  }
}

}  // namespace
}  // namespace tpack::cpu
