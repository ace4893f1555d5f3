#include "core/rng.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

using Block = std::array<uint32_t, 4>;

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Philox, gives_the_published_vectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, streams_of_one_key_differ) {
  Rng a(7, 0);
  Rng b(7, 1);
  EXPECT_NE(a.next64(), b.next64());
}

TEST(Rng, uniform_and_normal_have_the_right_moments) {
  constexpr int kDraws = 200000;
  Rng rng(3);
  double sum = 0;
  double squares = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    const double n = rng.normal();
    sum += u;
    squares += u * u;
    normal_sum += n;
    normal_squares += n * n;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.003);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.003);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.01);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.015);
}

TEST(Rng, range_includes_both_ends) {
  Rng rng(1);
  std::set<int> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.range(-1, 2));
  EXPECT_EQ(seen, (std::set<int>{-1, 0, 1, 2}));
}

TEST(Permutation, is_a_bijection_at_every_size) {
  for (const uint64_t size : {1U, 2U, 3U, 7U, 64U, 1000U, 4097U}) {
    const Permutation permutation(size, 42);
    std::vector<bool> hit(size);
    for (uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(permutation(i), size);
      hit[permutation(i)] = true;
    }
    EXPECT_EQ(std::count(hit.begin(), hit.end(), true), static_cast<long>(size)) << "size " << size;
  }
}

TEST(Permutation, first_element_lands_everywhere_equally_often) {
  constexpr uint64_t kSize = 10;
  constexpr int kKeys = 20000;
  std::vector<int> count(kSize);
  for (int key = 0; key < kKeys; ++key) ++count[Permutation(kSize, static_cast<uint64_t>(key))(0)];
  double chi_square = 0;
  for (const int seen : count) chi_square += std::pow(seen - kKeys / 10.0, 2) / (kKeys / 10.0);
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
}

}  // namespace
}  // namespace tpack
