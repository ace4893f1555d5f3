#pragma once

#include <cstddef>
#include <vector>

namespace tpack {

/// Draws one of its numbers in proportion to its size, in O(log n). Every inner node is exactly the sum of
/// its two children, so the same numbers have the same bits regardless of their history. Threads: one at a
/// time. Source: Schaul et al. 2016, Prioritized Experience Replay, appendix B.2.1.
class PriorityTree {
 public:
  /// `size` zeros.
  explicit PriorityTree(size_t size);

  /// `priority` >= 0.
  void set(size_t index, double priority);
  double priority(size_t index) const { return sums_[leaves_ + index]; }
  double total() const { return sums_[1]; }
  /// The smallest one that is not 0; infinity if all are.
  double smallest() const { return smallest_[1]; }
  /// The index at which the sum of the numbers up to it exceeds `at`, 0 <= at < total(). Never one of
  /// priority 0.
  size_t find(double at) const;

 private:
  size_t leaves_ = 1;         // a power of two
  std::vector<double> sums_;  // node i has the children 2i and 2i + 1; 1 is the root
  std::vector<double> smallest_;
};

}  // namespace tpack
