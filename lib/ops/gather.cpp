#include "ops/gather.h"

#include <numeric>

namespace tpack {
namespace {

void check_operands(const TensorSpec& table, const TensorSpec& numbers) {
  if (table.shape.rank() != 2) throw ShapeError("a table of rows must be [rows, width], not " + table.str());
  check_float(table, "a table of rows");
  if (numbers.dtype != DType::kInt32 || numbers.shape.rank() != 1)
    throw ShapeError("numbers of rows must be int32 [N], not " + numbers.str());
}

}  // namespace

Schema<GatherParams> Gather::schema() {
  return Schema<GatherParams>("Picks rows of a table by number.")
      .field("nan_outside", &GatherParams::nan_outside, "row for a number outside of the table: NaN, else 0");
}

std::vector<TensorSpec> Gather::infer(std::span<const TensorSpec> in) const {
  check_operands(in[0], in[1]);
  return {{in[0].dtype, Shape{in[1].shape[0], in[0].shape[1]}}};
}

std::vector<Symbol> Gather::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<ScatterAdd>({n.inputs[0].shape()[0]}, {dy[0], n.inputs[1]}).out(), {}};
}

Schema<ScatterAddParams> ScatterAdd::schema() {
  return Schema<ScatterAddParams>("Gradient of Gather.")
      .field("rows", &ScatterAddParams::rows, at_least(1), "number of rows of the table");
}

std::vector<TensorSpec> ScatterAdd::infer(std::span<const TensorSpec> in) const {
  check_operands(in[0], in[1]);
  return {{in[0].dtype, Shape{params().rows, in[0].shape[1]}}};
}

std::vector<Symbol> ScatterAdd::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.emit<Gather>({.nan_outside = false}, {dy[0], n.inputs[1]}).out(), {}};
}

Symbol gather(Builder& b, Symbol x, Symbol numbers, int axis) {
  const int rank = static_cast<int>(x.shape().rank());
  std::vector<int> to_front = {axis};  // the axis first, then the others
  for (int i = 0; i < rank; ++i) {
    if (i != axis) to_front.push_back(i);
  }
  const Symbol rows = axis == 0 ? x : b.transpose(x, to_front);
  const Symbol table = b.reshape(rows, Shape{x.shape()[axis], Shape::kUnknown});
  const Symbol flat = b.reshape(numbers, Shape{numbers.shape().elements()});
  std::vector<int64_t> sizes(numbers.shape().sizes().begin(), numbers.shape().sizes().end());
  const int count = static_cast<int>(sizes.size());
  for (int i = 1; i < rank; ++i) sizes.push_back(rows.shape()[i]);
  const Symbol found = b.reshape(b.emit<Gather>({}, {table, flat}).out(), Shape(sizes));
  if (axis == 0) return found;
  std::vector<int> back(sizes.size());  // the axes before `axis`, those of the numbers, the others
  for (int i = 0; i < static_cast<int>(back.size()); ++i) {
    const bool is_before = i < axis;
    const bool is_number = !is_before && i < axis + count;
    back[static_cast<size_t>(i)] = is_before ? count + i : is_number ? i - axis : i;
  }
  return b.transpose(found, back);
}

TPACK_REGISTER(Op, Gather, "Gather");
TPACK_REGISTER(Op, ScatterAdd, "ScatterAdd");

}  // namespace tpack
