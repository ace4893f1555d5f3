#include "train/symmetric_eigen.h"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <Eigen/Eigenvalues>

#include "core/stop.h"

namespace tpack {
namespace {

using Square = Eigen::Map<const Eigen::MatrixXd>;

/// Values in decreasing order and their vectors, as columns.
struct Solution {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// The matrix for Lanczos' method: computes products with vectors, and can be stopped between them.
class Multiplication {
 public:
  using Scalar = double;
  Multiplication(const Square& matrix, const std::stop_token& stop) : matrix_(matrix), stop_(stop) {}
  Eigen::Index rows() const { return matrix_.rows(); }
  Eigen::Index cols() const { return matrix_.cols(); }
  // The name is Spectra's. Errors: Stopped.
  void perform_op(const double* x, double* y) const {
    if (stop_.stop_requested()) throw Stopped{};
    Eigen::Map<Eigen::VectorXd>(y, rows()).noalias() = matrix_ * Eigen::Map<const Eigen::VectorXd>(x, rows());
  }

 private:
  const Square& matrix_;
  const std::stop_token& stop_;
};

/// A few pairs of a large matrix; all pairs of a small one take some milliseconds.
bool is_partial(int64_t n, int64_t count) {
  constexpr int64_t kSmall = 256;
  return n > kSmall && 2 * count <= n;
}

/// Vectors of Lanczos' method.
int64_t basis_size(int64_t n, int64_t count) { return std::min(n, 2 * count + 20); }

/// By Lanczos' method: the time grows with the number of pairs. Empty if it does not converge, for example
/// for matrices of low rank.
std::optional<Solution> some_pairs(const Square& matrix, int64_t count, const std::stop_token& stop) try {
  constexpr Eigen::Index kMaxRestarts = 1000;
  constexpr double kTolerance = 1e-12;  // relative to each value
  const int64_t basis = basis_size(matrix.rows(), count);
  Multiplication product(matrix, stop);
  Spectra::SymEigsSolver<Multiplication> solver(product, count, basis);
  solver.init();
  if (solver.compute(Spectra::SortRule::LargestAlge, kMaxRestarts, kTolerance) < count) return std::nullopt;
  return Solution{solver.eigenvalues(), solver.eigenvectors()};
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception&) {  // what Spectra throws
  return std::nullopt;
}

/// By a decomposition of the whole matrix, which cannot be stopped.
Solution all_pairs(const Square& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  if (solver.info() != Eigen::Success) throw Diverged("the eigenvectors of a matrix cannot be computed");
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

Solution solve(const Square& matrix, int64_t count, const std::stop_token& stop) {
  if (is_partial(matrix.rows(), count)) {
    if (auto some = some_pairs(matrix, count, stop)) return *std::move(some);
  }
  return all_pairs(matrix);
}

}  // namespace

uint64_t bytes_of_eigenpairs(int64_t n, int64_t count) {
  const int64_t vectors = is_partial(n, count) ? basis_size(n, count) + 2 * count : n + count;
  return static_cast<uint64_t>(n * vectors) * sizeof(double);
}

EigenPairs largest_eigenpairs(const Tensor& matrix, int64_t count, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped{};
  const int64_t n = matrix.shape()[0];
  const Square square(matrix.data<double>(), n, n);  // or its transpose, the same
  if (!square.allFinite()) throw Diverged("a matrix with values that are not finite has no eigenvectors");
  const Solution solution = solve(square, count, stop);
  EigenPairs pairs{Tensor(DType::kFloat64, {count}), Tensor(DType::kFloat64, {count, n})};
  for (int64_t k = 0; k < count; ++k) {
    pairs.values.data<double>()[k] = solution.values[k];
    const auto vector = solution.vectors.col(k);
    Eigen::Index largest = 0;
    vector.cwiseAbs().maxCoeff(&largest);
    Eigen::Map<Eigen::VectorXd>(pairs.vectors.row(k).data<double>(), n) =
        vector[largest] < 0 ? Eigen::VectorXd(-vector) : Eigen::VectorXd(vector);
  }
  return pairs;
}

}  // namespace tpack
