#include "ops/concat.h"

#include <algorithm>
#include <cstdlib>

#include "ops/pad.h"

namespace tpack {
namespace {

/// The likely mistake if two feature maps [N, C, H, W] differ by a few pixels.
std::string hint_of(const Shape& a, const Shape& b, int axis) {
  if (axis != 1 || a.rank() != 4 || b.rank() != 4) return "";
  int64_t most = 0;
  for (const int side : {2, 3}) most = std::max(most, std::abs(a[side] - b[side]));
  if (most == 0 || most > 8) return "";
  return "; an image whose size is halved k times and then doubled must have a multiple of 2^k pixels (8 for "
         "three times): resize it in the flow";
}

}  // namespace

Schema<ConcatParams> Concat::schema() {
  return Schema<ConcatParams>("Joins tensors along an axis.")
      .field("axis", &ConcatParams::axis, "axis to join, from 0");
}

std::vector<TensorSpec> Concat::infer(std::span<const TensorSpec> in) const {
  const int axis = params().axis;
  const Shape& first = in[0].shape;
  if (axis < 0 || axis >= static_cast<int>(first.rank()))
    throw ShapeError("axis " + std::to_string(axis) + " of a tensor " + in[0].str());
  int64_t size = 0;
  for (const TensorSpec& spec : in) {
    const bool fits = spec.dtype == in[0].dtype && spec.shape.rank() == first.rank() &&
                      spec.shape.with(axis, first[axis]) == first;
    if (!fits) {
      throw ShapeError("cannot concatenate " + in[0].str() + " and " + spec.str() + " along axis " +
                       std::to_string(axis) + "; element types and all other sizes must be equal" +
                       hint_of(first, spec.shape, axis));
    }
    size += spec.shape[axis];
  }
  return {{in[0].dtype, first.with(axis, size)}};
}

std::vector<Symbol> Concat::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  std::vector<Symbol> dx;
  for (size_t i = 0; i < n.inputs.size(); ++i)
    dx.push_back(slice(b, dy[0], begin_in_concat(n, i), n.inputs[i].shape()));
  return dx;
}

std::vector<int64_t> begin_in_concat(const Node& n, size_t index) {
  const int axis = op_cast<Concat>(n)->params().axis;
  std::vector<int64_t> begin(n.outputs[0].shape.rank(), 0);
  for (size_t i = 0; i < index; ++i) begin[static_cast<size_t>(axis)] += n.inputs[i].shape()[axis];
  return begin;
}

Symbol concat(Builder& b, std::span<const Symbol> in, int axis) {
  return b.emit<Concat>({axis}, {in.begin(), in.end()}).out();
}

TPACK_REGISTER(Op, Concat, "Concat");

}  // namespace tpack
