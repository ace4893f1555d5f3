#include "graph/structural.h"

#include <algorithm>
#include <map>

#include "core/text.h"
#include "graph/builder.h"

namespace tpack {
namespace {

template <class P>
Schema<P> named_value_schema(const char* summary, const char* name, std::string P::*member) {
  return Schema<P>(summary)
      .field(name, member, "which one")
      .field("dtype", &P::dtype, "element type")
      .field("shape", &P::shape, "axis sizes");
}

}  // namespace

Schema<InputParams> Input::schema() {
  return named_value_schema<InputParams>("An input value.", "name", &InputParams::name)
      .field("image", &InputParams::image, "whether it is an image, [N, C, H, W]");
}
std::vector<TensorSpec> Input::infer(std::span<const TensorSpec> /*in*/) const {
  return {{params().dtype, params().shape}};
}

Schema<ReadParams> Read::schema() {
  return named_value_schema<ReadParams>("The value of a variable when the program starts.", "variable",
                                        &ReadParams::variable);
}
std::vector<TensorSpec> Read::infer(std::span<const TensorSpec> /*in*/) const {
  return {{params().dtype, params().shape}};
}

std::vector<std::pair<const VariableSpec*, Symbol>> trainable_reads(const Graph& graph,
                                                                    const VariableTable& table) {
  std::map<std::string, Symbol> reads;
  for (const auto& node : graph.nodes()) {
    if (const auto* read = op_cast<Read>(*node)) reads[read->params().variable] = node->out();
  }
  std::vector<std::pair<const VariableSpec*, Symbol>> found;
  for (const VariableSpec* spec : table.trainable()) {
    const auto read = reads.find(spec->name);
    if (read != reads.end()) found.emplace_back(spec, read->second);
  }
  return found;
}

Schema<ConstantParams> Constant::schema() {
  return Schema<ConstantParams>("A tensor filled with one number.")
      .field("value", &ConstantParams::value, "the number")
      .field("dtype", &ConstantParams::dtype, "element type")
      .field("shape", &ConstantParams::shape, "axis sizes");
}
std::vector<TensorSpec> Constant::infer(std::span<const TensorSpec> /*in*/) const {
  return {{params().dtype, params().shape}};
}

std::string Literal::key() const {
  const std::string_view bytes(reinterpret_cast<const char*>(value_.raw()), value_.bytes());
  return "Literal{" + value_.spec().str() + ", " + std::to_string(stable_hash(bytes)) + "}";
}
std::vector<TensorSpec> Literal::infer(std::span<const TensorSpec> /*in*/) const { return {value_.spec()}; }

Schema<ReduceParams> Reduce::schema() {
  return Schema<ReduceParams>("Sum, maximum, mean or variance over axes, which are kept with size 1.")
      .field("kind", &ReduceParams::kind, "the operation")
      .field("axes", &ReduceParams::axes, "axes, from 0");
}
std::vector<TensorSpec> Reduce::infer(std::span<const TensorSpec> in) const {
  check_float(in[0], "the input of a sum");
  Shape shape = in[0].shape;
  for (const int axis : params().axes) {
    if (axis < 0 || axis >= static_cast<int>(shape.rank())) {
      throw ShapeError("axis " + std::to_string(axis) + " of a tensor " + in[0].str());
    }
    shape = shape.with(axis, 1);
  }
  return {{in[0].dtype, shape}};
}
std::vector<Symbol> Reduce::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  const Symbol x = n.inputs[0];
  const double count =
      static_cast<double>(x.shape().elements()) / static_cast<double>(n.outputs[0].shape.elements());
  if (params().kind == Reduction::kSum) return {b.broadcast_to(dy[0], x.shape())};
  if (params().kind == Reduction::kMean) return {b.broadcast_to(b.mul(dy[0], 1 / count), x.shape())};
  if (params().kind == Reduction::kVariance) {
    const Symbol mean = b.emit<Reduce>({Reduction::kMean, params().axes}, {x}).out();
    return {b.mul(b.mul(dy[0], 2 / count), b.sub(x, mean))};
  }
  // Equal maxima share the gradient, so that its sum does not depend on ties.
  const Symbol is_max = b.to_float(b.equal(x, n.out()));
  const Symbol ties = b.emit<Reduce>({Reduction::kSum, params().axes}, {is_max}).out();
  return {b.mul(is_max, b.div(dy[0], ties))};
}

Schema<ReshapeParams> Reshape::schema() {
  return Schema<ReshapeParams>("The same elements in row-major order with another shape.")
      .field("shape", &ReshapeParams::shape, "the new shape");
}
std::vector<TensorSpec> Reshape::infer(std::span<const TensorSpec> in) const {
  if (in[0].shape.elements() != params().shape.elements()) {
    throw ShapeError("cannot reshape " + in[0].str() + " to " + params().shape.str() + ": " +
                     std::to_string(in[0].shape.elements()) + " elements against " +
                     std::to_string(params().shape.elements()));
  }
  return {{in[0].dtype, params().shape}};
}
std::vector<Symbol> Reshape::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  return {b.reshape(dy[0], n.inputs[0].shape())};
}

Schema<TransposeParams> Transpose::schema() {
  return Schema<TransposeParams>("The same elements with axes in a different order.")
      .field("order", &TransposeParams::order, "output axis i is input axis order[i]");
}
std::vector<TensorSpec> Transpose::infer(std::span<const TensorSpec> in) const {
  std::vector<int> sorted = params().order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != in[0].shape.rank() || sorted[i] != static_cast<int>(i)) {
      throw ShapeError("the order of a transpose of " + in[0].str() + " must name each axis once");
    }
    sizes.push_back(in[0].shape[params().order[i]]);
  }
  return {{in[0].dtype, Shape(sizes)}};
}
std::vector<Symbol> Transpose::gradient(Builder& b, const Node& /*n*/, std::span<const Symbol> dy) const {
  std::vector<int> inverse(params().order.size());
  for (size_t i = 0; i < inverse.size(); ++i)
    inverse[static_cast<size_t>(params().order[i])] = static_cast<int>(i);
  return {b.transpose(dy[0], inverse)};
}

Schema<NoParams> StopGradient::schema() { return Schema<NoParams>("Identity that stops gradients."); }
std::vector<TensorSpec> StopGradient::infer(std::span<const TensorSpec> in) const { return {in[0]}; }

TPACK_REGISTER(Op, Input, "Input");
TPACK_REGISTER(Op, Read, "Read");
TPACK_REGISTER(Op, Constant, "Constant");
TPACK_REGISTER(Op, Reduce, "Reduce");
TPACK_REGISTER(Op, Reshape, "Reshape");
TPACK_REGISTER(Op, Transpose, "Transpose");
TPACK_REGISTER(Op, StopGradient, "StopGradient");

}  // namespace tpack
