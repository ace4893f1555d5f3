#include "train/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "core/stop.h"

namespace tpack {
namespace {

/// A random symmetric matrix.
Tensor symmetric(int64_t n) {
  const Tensor matrix(DType::kFloat64, {n, n});
  Rng rng(7);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      matrix.data<double>()[i * n + j] = matrix.data<double>()[j * n + i] = rng.normal();
  }
  return matrix;
}

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

TEST(SymmetricEigen, gives_the_largest_pairs_in_order_with_one_sign) {
  constexpr int64_t kSize = 12;
  constexpr int64_t kCount = 5;
  const Tensor matrix = symmetric(kSize);
  const EigenPairs pairs = largest_eigenpairs(matrix, kCount);
  for (int64_t k = 0; k < kCount; ++k) {
    const double* vector = pairs.vectors.row(k).data<double>();
    const double value = pairs.values.at(k);
    EXPECT_LE(value, pairs.values.at(std::max<int64_t>(k - 1, 0)));
    for (int64_t i = 0; i < kSize; ++i)  // A v = value v
      EXPECT_NEAR(dot(matrix.row(i).data<double>(), vector, kSize), value * vector[i], 1e-12);
    for (int64_t other = 0; other <= k; ++other)
      EXPECT_NEAR(dot(vector, pairs.vectors.row(other).data<double>(), kSize), other == k ? 1 : 0, 1e-12);
    const double* largest = std::max_element(vector, vector + kSize,
                                             [](double a, double b) { return std::abs(a) < std::abs(b); });
    EXPECT_GT(*largest, 0);
  }
}

TEST(SymmetricEigen, has_the_trace_as_the_sum_of_all_values) {
  const Tensor matrix = symmetric(9);
  const EigenPairs pairs = largest_eigenpairs(matrix, 9);
  double difference = 0;
  for (int64_t i = 0; i < 9; ++i) difference += matrix.at(i * 10) - pairs.values.at(i);
  EXPECT_NEAR(difference, 0, 1e-12);
}

TEST(SymmetricEigen, refuses_what_is_not_finite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor matrix = symmetric(4);
    matrix.data<double>()[5] = bad;
    EXPECT_THROW(largest_eigenpairs(matrix, 1), Diverged);
  }
}

TEST(SymmetricEigen, an_interrupt_does_not_wait_for_the_solution) {
  std::stop_source source;
  const Tensor matrix = symmetric(500);  // takes half a second
  std::jthread interrupt([&] { source.request_stop(); });
  EXPECT_THROW(largest_eigenpairs(matrix, 1, source.get_token()), Stopped);
}

}  // namespace
}  // namespace tpack
