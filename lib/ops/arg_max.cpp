#include "ops/arg_max.h"

namespace tpack {

Schema<ArgMaxParams> ArgMax::schema() {
  return Schema<ArgMaxParams>("Index of the largest element along an axis.")
      .field("axis", &ArgMaxParams::axis, "axis to search, from 0");
}

std::vector<TensorSpec> ArgMax::infer(std::span<const TensorSpec> in) const {
  const int rank = static_cast<int>(in[0].shape.rank());
  check_float(in[0], "the input of an arg max");
  if (params().axis < 0 || params().axis >= rank)
    throw ShapeError("axis " + std::to_string(params().axis) + " of a tensor " + in[0].str());
  std::vector<int64_t> sizes;
  for (int i = 0; i < rank; ++i) {
    if (i != params().axis) sizes.push_back(in[0].shape[i]);
  }
  return {{DType::kInt32, Shape(sizes)}};
}

AroundAxis around_axis(const Shape& shape, int axis) {
  AroundAxis sizes{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) sizes.before *= shape[i];
  for (int i = axis + 1; i < static_cast<int>(shape.rank()); ++i) sizes.after *= shape[i];
  return sizes;
}

TPACK_REGISTER(Op, ArgMax, "ArgMax");

}  // namespace tpack
