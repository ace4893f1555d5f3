#include "cpu/sweep/simd_moments.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack::cpu {
namespace {

TEST(SimdMoments, are_those_of_each_column) {
  Rng rng(1);
  for (const size_t rows : {1U, 2U, 7U, 130U}) {
    for (const size_t columns : {1U, 3U, 16U, 31U, 64U, 100U}) {
      std::vector<float> x(rows * columns);
      std::ranges::generate(x, [&] { return rng.uniform(-2.0F, 3.0F); });
      std::vector<double> sum(columns, 5);
      std::vector<double> squares(columns, 7);
      simd::add_moments(x.data(), rows, columns, sum.data(), squares.data());
      for (size_t c = 0; c < columns; ++c) {
        double true_sum = 5;
        double true_squares = 7;
        for (size_t row = 0; row < rows; ++row) {
          const auto value = static_cast<double>(x[row * columns + c]);
          true_sum += value;
          true_squares += value * value;
        }
        EXPECT_NEAR(sum[c], true_sum, 1e-12) << rows << " x " << columns;
        EXPECT_NEAR(squares[c], true_squares, 1e-12) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace tpack::cpu
