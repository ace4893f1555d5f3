#include "cpu/sweep/simd.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack::cpu {
namespace {

using pointwise::Fn;

std::vector<float> random_floats(size_t n, uint64_t seed, float low = -2, float high = 2) {
  Rng rng(seed);
  std::vector<float> values(n);
  for (float& v : values) v = rng.uniform(low, high);
  return values;
}

TEST(Simd, functions_agree_with_their_definition_at_every_length) {
  for (const Fn fn : pointwise::functions()) {
    for (const size_t n : {1U, 3U, 15U, 16U, 17U, 64U, 100U}) {
      const auto a = random_floats(n, 1, 0.1F, 3);
      const auto b = random_floats(n, 2, 0.1F, 3);
      const auto c = random_floats(n, 3);
      std::vector<float> out(n);
      simd::apply(fn, {a.data(), false}, {b.data(), false}, {c.data(), false}, out.data(), n);
      for (size_t i = 0; i < n; ++i) {
        const float expected = pointwise::evaluate(fn, a[i], b[i], c[i]);
        EXPECT_NEAR(out[i], expected, 4e-6 * std::abs(expected)) << pointwise::name_of(fn) << " of " << a[i];
      }
    }
  }
}

TEST(Simd, one_number_may_stand_for_all) {
  const auto a = random_floats(37, 1);
  const float two = 2;
  std::vector<float> out(37);
  simd::apply(Fn::kSub, {&two, true}, {a.data(), false}, {}, out.data(), 37);
  EXPECT_EQ(out[36], 2 - a[36]);
  simd::apply(Fn::kSub, {a.data(), false}, {&two, true}, {}, out.data(), 37);
  EXPECT_EQ(out[36], a[36] - 2);
  simd::apply(Fn::kSelect, {&two, true}, {a.data(), false}, {&two, true}, out.data(), 37);
  EXPECT_EQ(out[36], a[36]);
}

/// Equal up to 4e-6 of the truth and the smallest normal number; infinity and NaN are what they are.
void expect_close(float found, double truth) {
  const auto expected = static_cast<float>(truth);
  if (std::isfinite(expected)) {
    EXPECT_NEAR(found, truth, 4e-6 * std::abs(truth) + 1.2e-38);
  } else {
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << found << " for " << expected;
  }
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::vector<float> kEnds = {0,     -0.0F, 1e-30F, 1e-3F,  -1e-3F,    0.5F,       -0.5F, 1,
                                  -1,    1.5F,  2.5F,   -2.5F,  3,         -3,         20,    -20,
                                  88.7F, -87,   89,     -103,   179,       -179,       1e3F,  -1e3F,
                                  1e7F,  -1e7F, 1e30F,  -1e30F, kInfinity, -kInfinity, NAN};

TEST(Simd, functions_of_one_value_hold_at_the_ends_of_their_range) {
  for (const Fn fn : pointwise::functions()) {
    if (pointwise::arity(fn) != 1) continue;
    for (const float x : kEnds) {
      float out = 0;
      simd::apply(fn, {&x, false}, {}, {}, &out, 1);
      SCOPED_TRACE(std::string(pointwise::name_of(fn)) + " of " + std::to_string(x));
      expect_close(out, pointwise::evaluate<double>(fn, x, 0, 0));
    }
  }
}

TEST(Simd, functions_of_two_values_hold_at_the_ends_of_their_range) {
  for (const Fn fn : pointwise::functions()) {
    if (pointwise::arity(fn) != 2) continue;
    for (const float x : kEnds) {
      for (const float y : kEnds) {
        float out = 0;
        simd::apply(fn, {&x, false}, {&y, false}, {}, &out, 1);
        SCOPED_TRACE(std::string(pointwise::name_of(fn)) + " of " + std::to_string(x) + " and " +
                     std::to_string(y));
        expect_close(out, pointwise::evaluate<double>(fn, x, y, 0));
      }
    }
  }
}

TEST(Simd, nan_goes_through_max_and_min_as_in_the_reference) {
  const float nan = NAN;
  const float one = 1;
  float out = 0;
  simd::apply(Fn::kMax, {&nan, false}, {&one, false}, {}, &out, 1);
  EXPECT_TRUE(std::isnan(out));
  simd::apply(Fn::kMin, {&nan, false}, {&one, false}, {}, &out, 1);
  EXPECT_TRUE(std::isnan(out));
}

TEST(Simd, results_do_not_depend_on_where_a_tile_ends) {
  const auto a = random_floats(100, 1);
  std::vector<float> whole(100);
  std::vector<float> parts(100);
  simd::apply(Fn::kExp, {a.data(), false}, {}, {}, whole.data(), 100);
  simd::apply(Fn::kExp, {a.data(), false}, {}, {}, parts.data(), 7);
  simd::apply(Fn::kExp, {a.data() + 7, false}, {}, {}, parts.data() + 7, 93);
  EXPECT_EQ(whole, parts);
}

TEST(Simd, sums_and_maxima) {
  const auto a = random_floats(1001, 4);
  double sum = 0;
  for (const float x : a) sum += static_cast<double>(x);
  EXPECT_NEAR(simd::sum(a.data(), a.size()), sum, 1e-3);
  EXPECT_EQ(simd::max(a.data(), a.size()), *std::max_element(a.begin(), a.end()));
}

}  // namespace
}  // namespace tpack::cpu
