#include "graph/passes/simplify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "graph/op.h"
#include "graph/passes/rewrite.h"
#include "graph/pointwise.h"
#include "graph/structural.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;
using pointwise::Pointwise;
using Replacement = std::optional<std::vector<Symbol>>;

const Constant* constant_of(Symbol s) { return op_cast<Constant>(*s.node); }

/// Reshapes of reshapes, transposes of transposes, and those that change nothing.
Replacement movement(Graph& out, const Node& node, std::span<const Symbol> inputs) {
  if (const auto* reshape = op_cast<Reshape>(node)) {
    Symbol x = inputs[0];
    if (op_cast<Reshape>(*x.node) != nullptr) x = x.node->inputs[0];
    if (x.shape() == reshape->params().shape) return {{x}};
    if (const Constant* constant = constant_of(x)) {
      const ConstantParams params{constant->params().value, constant->params().dtype,
                                  reshape->params().shape};
      return {{out.add(std::make_shared<const Constant>(params), {}, node.path, node.origin).out()}};
    }
    if (x == inputs[0]) return std::nullopt;
    return {{out.add(node.op, {x}, node.path, node.origin).out()}};
  }
  if (const auto* transpose = op_cast<Transpose>(node)) {
    const auto& order = transpose->params().order;
    if (std::is_sorted(order.begin(), order.end())) return {{inputs[0]}};
    const auto* inner = op_cast<Transpose>(*inputs[0].node);
    if (inner == nullptr) return std::nullopt;
    std::vector<int> both;
    for (const int axis : order) both.push_back(inner->params().order[static_cast<size_t>(axis)]);
    const Symbol x = inputs[0].node->inputs[0];
    if (std::is_sorted(both.begin(), both.end())) return {{x}};
    return {{out.add(std::make_shared<const Transpose>(TransposeParams{both}), {x}, node.path, node.origin)
                 .out()}};
  }
  return std::nullopt;
}

/// Takes inputs that are constants into the expression where the output's shape does not need them.
std::pair<Expression, std::vector<Symbol>> with_constants(const Expression& expression,
                                                          std::span<const Symbol> inputs,
                                                          const Shape& shape) {
  std::vector<bool> folded(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (constant_of(inputs[i]) == nullptr) continue;
    Shape rest;
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (j != i && !folded[j]) rest = broadcast(rest, inputs[j].shape());
    }
    folded[i] = rest == shape;
  }
  Expression out = expression;
  std::vector<Symbol> kept;
  std::vector<int> place(inputs.size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (folded[i]) continue;
    place[i] = static_cast<int>(kept.size());
    kept.push_back(inputs[i]);
  }
  for (Instruction& instruction : out.code) {
    if (instruction.fn != Fn::kInput) continue;
    const auto input = static_cast<size_t>(instruction.args[0]);
    if (folded[input]) {
      instruction = {Fn::kConstant, {-1, -1, -1}, constant_of(inputs[input])->params().value};
    } else {
      instruction.args[0] = place[input];
    }
  }
  out.inputs = static_cast<int>(kept.size());
  return {out, kept};
}

/// The input that a one-function expression passes through unchanged (x + 0, x * 1, ...), -1 if there is
/// none.
int passed_through(const Expression& e) {
  const Instruction& call = e.code.back();
  if (call.fn == Fn::kInput) return call.args[0];  // a cast; the caller compares types
  if (pointwise::arity(call.fn) != 2) return -1;
  const Instruction& a = e.code[static_cast<size_t>(call.args[0])];
  const Instruction& b = e.code[static_cast<size_t>(call.args[1])];
  const auto is = [](const Instruction& x, double value) {
    return x.fn == Fn::kConstant && x.value == value;
  };
  const bool keeps_left = (call.fn == Fn::kAdd && is(b, 0)) || (call.fn == Fn::kSub && is(b, 0)) ||
                          (call.fn == Fn::kMul && is(b, 1)) || (call.fn == Fn::kDiv && is(b, 1));
  if (keeps_left && a.fn == Fn::kInput) return a.args[0];
  const bool keeps_right = (call.fn == Fn::kAdd && is(a, 0)) || (call.fn == Fn::kMul && is(a, 1));
  if (keeps_right && b.fn == Fn::kInput) return b.args[0];
  return -1;
}

double evaluate(const Expression& e) {
  std::vector<double> registers;
  for (const Instruction& i : e.code) {
    const auto arg = [&](size_t k) {
      return i.args[k] < 0 ? 0.0 : registers[static_cast<size_t>(i.args[k])];
    };
    registers.push_back(i.fn == Fn::kConstant ? i.value : pointwise::evaluate(i.fn, arg(0), arg(1), arg(2)));
  }
  return registers[static_cast<size_t>(e.results[0])];
}

Replacement pointwise_rule(Graph& out, const Node& node, std::span<const Symbol> inputs) {
  const auto* op = op_cast<Pointwise>(node);
  if (op == nullptr || op->expression().results.size() != 1) return std::nullopt;
  const TensorSpec& spec = node.outputs[0];
  // Every input a constant: so is the result. Done in the float type's own precision only where that is exact
  // enough to keep values bit-equal: the reference evaluates in double and rounds once, so only one function
  // is folded.
  const bool all_constant =
      std::all_of(inputs.begin(), inputs.end(), [](Symbol s) { return constant_of(s) != nullptr; });
  if (all_constant) {
    Expression e = op->expression();
    for (Instruction& i : e.code) {
      if (i.fn == Fn::kInput)
        i = {
            Fn::kConstant, {-1, -1, -1}, constant_of(inputs[static_cast<size_t>(i.args[0])])->params().value};
    }
    const ConstantParams params{evaluate(e), spec.dtype, spec.shape};
    return {{out.add(std::make_shared<const Constant>(params), {}, node.path, node.origin).out()}};
  }
  auto [expression, kept] = with_constants(op->expression(), inputs, spec.shape);
  const int passed = passed_through(expression);
  if (passed >= 0 && kept[static_cast<size_t>(passed)].spec() == spec)
    return {{kept[static_cast<size_t>(passed)]}};
  if (expression == op->expression()) return std::nullopt;
  return {{out.add(std::make_shared<const Pointwise>(expression), kept, node.path, node.origin).out()}};
}

class Simplifier {
 public:
  explicit Simplifier(Stops stops) : stops_(stops) {}

  Replacement operator()(Graph& out, const Node& node, std::span<const Symbol> inputs) {
    if (stops_ == Stops::kDrop && op_cast<StopGradient>(node) != nullptr) return {{inputs[0]}};
    if (auto moved = movement(out, node, inputs)) return merged(std::move(*moved));
    if (auto simpler = pointwise_rule(out, node, inputs)) return merged(std::move(*simpler));
    if (node.op->stateful()) return std::nullopt;
    if (const Node* twin = find(node.op->key(), {inputs.begin(), inputs.end()})) return outputs_of(*twin);
    const Node& copy = out.add(node.op, {inputs.begin(), inputs.end()}, node.path, node.origin);
    known_[{copy.op->key(), copy.inputs}] = &copy;
    return outputs_of(copy);
  }

 private:
  static std::vector<Symbol> outputs_of(const Node& node) {
    std::vector<Symbol> all;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) all.push_back(node.out(i));
    return all;
  }
  const Node* find(const std::string& key, const std::vector<Symbol>& inputs) const {
    const auto found = known_.find({key, inputs});
    return found == known_.end() ? nullptr : found->second;
  }
  /// A replacement may itself be a node that is there already; the fresh one then stays unused and the next
  /// pass over the graph drops it.
  std::vector<Symbol> merged(std::vector<Symbol> symbols) {
    const Node* node = symbols[0].node;
    if (node->op->stateful()) return symbols;  // no second draw is the same
    const Node* twin = find(node->op->key(), node->inputs);
    if (twin != nullptr && symbols.size() == 1) return {twin->out(symbols[0].output)};
    known_[{node->op->key(), node->inputs}] = node;
    return symbols;
  }

  Stops stops_;
  std::map<std::pair<std::string, std::vector<Symbol>>, const Node*> known_;
};

}  // namespace

Graph simplify(const Graph& graph, Stops stops) {
  Simplifier first(stops);
  const Graph once = rewrite(
      graph, [&](Graph& out, const Node& n, std::span<const Symbol> in) { return first(out, n, in); });
  Simplifier second(stops);  // what the first pass folded opens further merges; it also drops unused nodes
  return rewrite(once,
                 [&](Graph& out, const Node& n, std::span<const Symbol> in) { return second(out, n, in); });
}

}  // namespace tpack
