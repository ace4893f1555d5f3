#include "graph/builder.h"

#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "graph/structural.h"

namespace tpack {
namespace {

std::vector<int> normalized(const std::vector<int>& axes, const Shape& shape) {
  const int rank = static_cast<int>(shape.rank());
  std::vector<int> out = axes;
  if (out.empty()) {
    out.resize(shape.rank());
    std::iota(out.begin(), out.end(), 0);
  }
  for (int& axis : out) axis = axis < 0 ? axis + rank : axis;
  std::sort(out.begin(), out.end());
  return out;
}

Shape without(const Shape& shape, const std::vector<int>& axes) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < static_cast<int>(shape.rank()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) sizes.push_back(shape[i]);
  }
  return Shape(sizes);
}

OutputMeaning meaning_of(pointwise::Fn fn) {
  if (fn == pointwise::Fn::kSigmoid) return kProbabilities;
  return fn == pointwise::Fn::kTanh ? OutputMeaning{-1, 1} : OutputMeaning();
}

}  // namespace

Builder::Builder(Graph& graph, VariableTable& variables, Options options)
    : graph_(graph), variables_(variables), options_(options) {
  if (!options.builds_on) return;
  for (const auto& node : graph.nodes()) {
    ++path_count_[node->path];
    if (const auto* read = op_cast<Read>(*node)) reads_[read->params().variable] = node->out();
    if (const auto* input = op_cast<Input>(*node)) inputs_[input->params().name] = node->out();
  }
}

Builder::NameScope::NameScope(Builder& b, std::string_view name, Position origin)
    : builder_(b), outer_path_(b.path_), outer_variable_path_(b.variable_path_), outer_origin_(b.origin_) {
  for (std::string* path : {&b.path_, &b.variable_path_})
    *path = path->empty() ? std::string(name) : *path + "/" + std::string(name);
  if (origin.known()) b.origin_ = std::move(origin);
}

Builder::NameScope::~NameScope() {
  builder_.path_ = std::move(outer_path_);
  builder_.variable_path_ = std::move(outer_variable_path_);
  builder_.origin_ = std::move(outer_origin_);
}

std::string Builder::node_path(const char* type) {
  std::string path = path_.empty() ? type : path_ + "/" + type;
  const int count = path_count_[path]++;
  if (count == 0) return path;
  return node_path((std::string(type) + "_" + std::to_string(count)).c_str());
}

const Node& Builder::emit(std::shared_ptr<const Op> op, std::vector<Symbol> inputs) {
  std::string path = node_path(op->type());
  try {
    return graph_.add(std::move(op), std::move(inputs), std::move(path), origin_);
  } catch (const ShapeError& error) {
    const std::string where = path_.empty() ? "" : path_ + ": ";
    throw ShapeError(origin_, where + error.problems()[0].text);
  }
}

Symbol Builder::input(const std::string& name, TensorSpec spec) { return add_input(name, spec, false); }

Symbol Builder::image_input(const std::string& name, TensorSpec spec) { return add_input(name, spec, true); }

Symbol Builder::add_input(const std::string& name, const TensorSpec& spec, bool image) {
  TPACK_ASSERT(!inputs_.contains(name), "two inputs named " + name);
  return inputs_[name] = emit<Input>({name, spec.dtype, spec.shape, image}, {}).out();
}

Symbol Builder::variable(const std::string& name, const Shape& shape, Initialize initialize, bool trainable) {
  return variable(
      {variable_name(name), {float_type(), shape}, VariableScope::kModel, trainable, std::move(initialize)});
}

Symbol Builder::kernel(KernelKind kind, const Shape& shape, Initialize initialize, const Shape& flattened) {
  VariableSpec spec{
      variable_name("W"), {float_type(), shape}, VariableScope::kModel, true, std::move(initialize)};
  spec.kernel = kind;
  spec.flattened = flattened;
  return variable(std::move(spec));
}

Symbol Builder::variable(VariableSpec spec) {
  const bool is_again = variables_.find(spec.name) != nullptr;
  const bool is_twice = reads_.contains(spec.name);  // in this graph
  try {
    const VariableSpec& declared = variables_.declare(std::move(spec));
    return read(declared.name, declared.spec);
  } catch (const ShapeError& error) {
    const char* fix = "";
    if (is_again) {
      const bool shared = variable_path_ != path_;
      fix = shared ? "; the calls of a network share its variables, so they need inputs of the same shape"
            : is_twice
                ? "; rename one of the two layers"
                : "; the samples of this batch have another size than before: give all the same size, or put "
                  "GlobalAvgPooling before this layer";
    }
    throw ShapeError(origin_, error.problems()[0].text + fix);
  }
}

Symbol Builder::read(const std::string& name, TensorSpec spec) {
  const auto found = reads_.find(name);
  if (found != reads_.end()) return found->second;
  const Symbol symbol = emit<Read>({name, spec.dtype, spec.shape}, {}).out();
  reads_[name] = symbol;
  return symbol;
}

Symbol Builder::constant(double value, const Shape& shape) {
  return emit<Constant>({value, float_type(), shape}, {}).out();
}
Symbol Builder::constant(const Tensor& value) {
  return emit(std::make_shared<const Literal>(value), {}).out();
}

DType Builder::type_of(pointwise::Expression expression, std::span<const Symbol> inputs) const {
  const std::vector<TensorSpec> specs = specs_of(inputs);
  const auto has = [&](DType type) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const TensorSpec& spec) { return spec.dtype == type; });
  };
  expression.types = {DType::kInt64};
  const bool is_wide = has(DType::kInt32) || has(DType::kInt64);
  if (!is_wide || !expression.is_integral(specs)) return float_type();
  return has(DType::kInt64) ? DType::kInt64 : DType::kInt32;
}

Symbol Builder::apply(pointwise::Fn fn, std::initializer_list<Operand> operands) {
  pointwise::Expression expression;
  pointwise::Instruction call{fn};
  std::vector<Symbol> inputs;
  size_t argument = 0;
  for (const Operand& operand : operands) {
    const bool is_input = static_cast<bool>(operand.symbol);
    pointwise::Instruction load{is_input ? pointwise::Fn::kInput : pointwise::Fn::kConstant};
    if (is_input) {
      load.args[0] = static_cast<int>(inputs.size());
      inputs.push_back(operand.symbol);
    } else {
      load.value = operand.value;
    }
    call.args[argument++] = static_cast<int>(expression.code.size());
    expression.code.push_back(load);
  }
  expression.inputs = static_cast<int>(inputs.size());
  expression.results = {static_cast<int>(expression.code.size())};
  expression.code.push_back(call);
  expression.types = {pointwise::gives_bool(fn) ? DType::kBool : type_of(expression, inputs)};
  const auto op = std::make_shared<const pointwise::Pointwise>(std::move(expression));
  return declare(emit(op, std::move(inputs)).out(), meaning_of(fn));
}

Symbol Builder::cast(Symbol x, DType type) {
  if (x.dtype() == type) return x;
  pointwise::Expression expression;
  expression.inputs = 1;
  expression.code.push_back({pointwise::Fn::kInput, {0, -1, -1}});
  if (is_float(x.dtype()) && !is_float(type)) expression.code.push_back({pointwise::Fn::kTrunc, {0, -1, -1}});
  expression.results = {static_cast<int>(expression.code.size()) - 1};
  expression.types = {type};
  return emit(std::make_shared<const pointwise::Pointwise>(std::move(expression)), {x}).out();
}

Symbol Builder::reduce_sum(Symbol x, std::vector<int> axes, Keep keep) {
  axes = normalized(axes, x.shape());
  const Symbol y = emit<Reduce>({Reduction::kSum, axes}, {x}).out();
  return keep == Keep::kYes ? y : reshape(y, without(x.shape(), axes));
}

Symbol Builder::reduce_max(Symbol x, std::vector<int> axes, Keep keep) {
  axes = normalized(axes, x.shape());
  const Symbol y = emit<Reduce>({Reduction::kMax, axes}, {x}).out();
  return keep == Keep::kYes ? y : reshape(y, without(x.shape(), axes));
}

Symbol Builder::reduce_mean(Symbol x, std::vector<int> axes, Keep keep) {
  int64_t count = 1;
  for (const int axis : normalized(axes, x.shape())) count *= x.shape()[axis];
  return mul(reduce_sum(x, std::move(axes), keep), 1.0 / static_cast<double>(count));
}

Symbol Builder::sum_to(Symbol x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int extra = static_cast<int>(x.shape().rank() - shape.rank());
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(x.shape().rank()); ++axis) {
    if (axis < extra || (shape[axis - extra] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  }
  const Symbol y = axes.empty() ? x : emit<Reduce>({Reduction::kSum, axes}, {x}).out();
  return reshape(y, shape);
}

Symbol Builder::broadcast_to(Symbol x, const Shape& shape) {
  if (x.shape() == shape) return x;
  // A zero of the wanted shape carries it; as an operand of a fused kernel it costs nothing.
  return add(x, constant(0, shape));
}

Symbol Builder::reshape(Symbol x, const Shape& shape) {
  Shape wanted = shape;
  int64_t known = 1;
  int unknown = -1;
  for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis) {
    if (shape[axis] == Shape::kUnknown) unknown = axis;
    if (shape[axis] != Shape::kUnknown) known *= shape[axis];
  }
  if (unknown >= 0 && known > 0) wanted = shape.with(unknown, x.shape().elements() / known);
  if (x.shape() == wanted) return x;
  const bool keeps_last =
      x.shape().rank() > 0 && wanted.rank() > 0 &&
      x.shape()[static_cast<int>(x.shape().rank()) - 1] == wanted[static_cast<int>(wanted.rank()) - 1];
  return declare_moved(emit<Reshape>({wanted}, {x}).out(), x, keeps_last);
}

Symbol Builder::declare_moved(Symbol y, Symbol x, bool keeps_last_axis) {
  const OutputMeaning same = meaning(x);
  return declare(y, same.sums_to_one && !keeps_last_axis ? OutputMeaning() : same);
}

Symbol Builder::transpose(Symbol x, std::vector<int> order) {
  const bool keeps_last = !order.empty() && order.back() == static_cast<int>(order.size()) - 1;
  return declare_moved(emit<Transpose>({std::move(order)}, {x}).out(), x, keeps_last);
}
Symbol Builder::stop_gradient(Symbol x) { return emit<StopGradient>({}, {x}).out(); }

}  // namespace tpack
