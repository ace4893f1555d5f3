#include "train/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(SymmetricEigen, rejects_what_is_not_finite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor matrix = symmetric(4);
    matrix.data<double>()[5] = bad;
    EXPECT_THROW(largest_eigenpairs(matrix, 1), Diverged);
  }
}

/// A few pairs of a large matrix are computed in another way than all of them.
TEST(SymmetricEigen, gives_the_same_pairs_whether_few_or_all_are_asked_for) {
  constexpr int64_t kSize = 300;
  const Tensor matrix = symmetric(kSize);
  const EigenPairs few = largest_eigenpairs(matrix, 5);
  const EigenPairs all = largest_eigenpairs(matrix, kSize);
  for (int64_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(few.values.at(k), all.values.at(k), 1e-12 * all.values.at(0));
    for (int64_t i = 0; i < kSize; ++i)
      EXPECT_NEAR(few.vectors.at(k * kSize + i), all.vectors.at(k * kSize + i), 1e-9);
  }
}

/// As of images that all have the same pixels but in some places.
TEST(SymmetricEigen, finds_the_zeros_of_a_matrix_of_low_rank) {
  constexpr int64_t kSize = 300;
  for (const int64_t rank : {0, 1, 2}) {
    const Tensor matrix = Tensor::zeros({DType::kFloat64, {kSize, kSize}});
    for (int64_t i = 0; i < rank; ++i) matrix.data<double>()[i * kSize + i] = static_cast<double>(5 - i);
    const EigenPairs pairs = largest_eigenpairs(matrix, 4);
    for (int64_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(pairs.values.at(k), k < rank ? static_cast<double>(5 - k) : 0, 1e-12) << rank;
      const double* vector = pairs.vectors.row(k).data<double>();
      for (int64_t other = 0; other <= k; ++other)
        EXPECT_NEAR(dot(vector, pairs.vectors.row(other).data<double>(), kSize), other == k ? 1 : 0, 1e-9);
    }
  }
}

TEST(SymmetricEigen, an_interrupt_ends_it) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(largest_eigenpairs(symmetric(300), 5, source.get_token()), Stopped);
}

}  // namespace
}  // namespace tpack
