#include "ops/pad.h"

#include <algorithm>

namespace tpack {

Schema<PadParams> Pad::schema() {
  return Schema<PadParams>("Adds zeros around a tensor.")
      .field("before", &PadParams::before, "zeros before, for each axis")
      .field("after", &PadParams::after, "zeros after, for each axis");
}

std::vector<TensorSpec> Pad::infer(std::span<const TensorSpec> in) const {
  Shape shape = in[0].shape;
  if (params().before.size() != shape.rank() || params().after.size() != shape.rank()) {
    throw ShapeError("padding of " + in[0].str() + " must have one entry per axis");
  }
  for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (const int64_t least = std::min(params().before[i], params().after[i]); least < 0)
      throw ShapeError("padding " + std::to_string(least) + " of " + in[0].str() +
                       " is negative; must be at least 0");
    shape = shape.with(axis, shape[axis] + params().before[i] + params().after[i]);
  }
  return {{in[0].dtype, shape}};
}

std::vector<Symbol> Pad::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {slice(b, dy[0], params().before, n.inputs[0].shape())};
}

Schema<SliceParams> Slice::schema() {
  return Schema<SliceParams>("A box out of a tensor.")
      .field("begin", &SliceParams::begin, "first element, for each axis")
      .field("size", &SliceParams::size, "size of the box");
}

std::vector<TensorSpec> Slice::infer(std::span<const TensorSpec> in) const {
  const Shape& x = in[0].shape;
  bool inside = params().begin.size() == x.rank() && params().size.rank() == x.rank();
  for (size_t i = 0; inside && i < x.rank(); ++i) {
    const int axis = static_cast<int>(i);
    inside = params().begin[i] >= 0 && params().begin[i] + params().size[axis] <= x[axis];
  }
  if (!inside) throw ShapeError("a slice " + params().size.str() + " is not inside " + in[0].str());
  return {{in[0].dtype, params().size}};
}

std::vector<Symbol> Slice::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  std::vector<int64_t> after;
  const Shape& x = n.inputs[0].shape();
  for (size_t i = 0; i < x.rank(); ++i) {
    const int axis = static_cast<int>(i);
    after.push_back(x[axis] - params().begin[i] - params().size[axis]);
  }
  return {pad(b, dy[0], params().begin, after)};
}

Symbol pad(Builder& b, Symbol x, std::vector<int64_t> before, std::vector<int64_t> after) {
  return b.emit<Pad>({std::move(before), std::move(after)}, {x}).out();
}

Symbol slice(Builder& b, Symbol x, std::vector<int64_t> begin, const Shape& size) {
  return b.emit<Slice>({std::move(begin), size}, {x}).out();
}

TPACK_REGISTER(Op, Pad, "Pad");
TPACK_REGISTER(Op, Slice, "Slice");

}  // namespace tpack
