#include "agents/priority_tree.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tpack {

constexpr double kNoPriority = std::numeric_limits<double>::infinity();

PriorityTree::PriorityTree(size_t size)
    : leaves_(std::bit_ceil(size)), sums_(2 * leaves_, 0.0), smallest_(2 * leaves_, kNoPriority) {}

void PriorityTree::set(size_t index, double priority) {
  size_t node = leaves_ + index;
  sums_[node] = priority;
  smallest_[node] = kNoPriority;
  if (priority > 0) smallest_[node] = priority;
  for (node /= 2; node >= 1; node /= 2) {
    sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
    smallest_[node] = std::min(smallest_[2 * node], smallest_[2 * node + 1]);
  }
}

size_t PriorityTree::find(double at) const {
  size_t node = 1;
  while (node < leaves_) {
    const size_t left = 2 * node;
    const bool goes_left = at < sums_[left] || sums_[left + 1] == 0;  // rounding may leave more than there is
    if (!goes_left) at -= sums_[left];
    node = goes_left ? left : left + 1;
  }
  return node - leaves_;
}

}  // namespace tpack
