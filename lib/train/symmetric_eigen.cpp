#include "train/symmetric_eigen.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include <Eigen/Eigenvalues>

#include "core/stop.h"

namespace tpack {
namespace {

EigenPairs solve(const Tensor& matrix, int64_t count) {
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

/// What the thread of a solution and the one that waits for it share.
struct Solution {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool is_there = false;
  EigenPairs pairs = {};
  std::exception_ptr failure = nullptr;
};

}  // namespace

EigenPairs largest_eigenpairs(const Tensor& matrix, int64_t count, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped{};
  const auto solution = std::make_shared<Solution>();
  std::thread([solution, matrix, count] {
    EigenPairs pairs;
    std::exception_ptr failure;
    try {
      pairs = solve(matrix, count);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(solution->mutex);
    solution->pairs = std::move(pairs);
    solution->failure = failure;
    solution->is_there = true;
    solution->changed.notify_all();
  }).detach();
  std::unique_lock lock(solution->mutex);
  if (!solution->changed.wait(lock, stop, [&] { return solution->is_there; })) throw Stopped{};
  if (solution->failure) std::rethrow_exception(solution->failure);
  return std::move(solution->pairs);
}

}  // namespace tpack
