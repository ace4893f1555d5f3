#include "layers/layer_shapes.h"

#include <algorithm>
#include <functional>
#include <set>

#include "graph/structural.h"

namespace tpack {

void check_input_count(const Builder& b, std::span<const Symbol> in, size_t count, const std::string& what) {
  if (in.size() != count)
    nn::throw_shape_error(
        b, "takes " + std::to_string(count) + " inputs (" + what + "), not " + std::to_string(in.size()));
}

int axis_of(const Builder& b, int64_t axis, Symbol x) {
  const auto rank = static_cast<int64_t>(x.shape().rank());
  if (rank == 0) nn::throw_shape_error(b, "needs an input with axes, not " + x.spec().str());
  if (axis < -rank || axis >= rank) {
    nn::throw_shape_error(b, "the input " + x.spec().str() + " has no axis " + std::to_string(axis) +
                                 "; must be from " + std::to_string(-rank) + " to " +
                                 std::to_string(rank - 1));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int axis_inside_samples(const Builder& b, int64_t axis, Symbol x) {
  const int found = axis_of(b, axis, x);
  if (found == 0)
    nn::throw_shape_error(
        b, "axis 0 of the input " + x.spec().str() +
               " is the batch, so samples would depend on each other; the axes of a sample begin at 1");
  return found;
}

std::vector<int> axes_of(const Builder& b, const std::vector<int64_t>& axes, Symbol x) {
  std::vector<int> found;
  for (const int64_t axis : axes) {
    found.push_back(axis_of(b, axis, x));
    if (std::count(found.begin(), found.end(), found.back()) > 1)
      nn::throw_shape_error(b, "axis " + std::to_string(axis) + " is named twice");
  }
  return found;
}

bool is_without_samples(const Symbol& x) {
  std::set<const Node*> seen;
  const std::function<bool(const Node&)> all = [&](const Node& node) {
    if (!seen.insert(&node).second) return true;
    if (node.inputs.empty()) return op_cast<Constant>(node) != nullptr || op_cast<Read>(node) != nullptr;
    return std::ranges::all_of(node.inputs, [&](const Symbol& in) { return all(*in.node); });
  };
  return all(*x.node);
}

Shape with_batch_of(const Builder& b, Symbol x, const Shape& sample) {
  if (x.shape().rank() == 0) nn::throw_shape_error(b, "needs an input [N, ...] to take the batch size from");
  return sample.prepend(x.shape()[0]);
}

}  // namespace tpack
