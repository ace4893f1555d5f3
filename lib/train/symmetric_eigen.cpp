#include "train/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

namespace tpack {

EigenPairs largest_eigenpairs(const Tensor& matrix, int64_t count) {
  const int64_t n = matrix.shape()[0];
  const Eigen::Map<const Eigen::MatrixXd> square(matrix.data<double>(), n, n);  // or its transpose, the same
  if (!square.allFinite()) throw Diverged("a matrix with values that are not finite has no eigenvectors");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(square);
  if (solver.info() != Eigen::Success) throw Diverged("the eigenvectors of a matrix cannot be computed");
  EigenPairs pairs{Tensor(DType::kFloat64, {count}), Tensor(DType::kFloat64, {count, n})};
  for (int64_t k = 0; k < count; ++k) {
    const int64_t column = n - 1 - k;  // in growing order
    pairs.values.data<double>()[k] = solver.eigenvalues()[column];
    const auto vector = solver.eigenvectors().col(column);
    Eigen::Index largest = 0;
    vector.cwiseAbs().maxCoeff(&largest);
    Eigen::Map<Eigen::VectorXd>(pairs.vectors.row(k).data<double>(), n) =
        vector[largest] < 0 ? Eigen::VectorXd(-vector) : Eigen::VectorXd(vector);
  }
  return pairs;
}

}  // namespace tpack
