#include "model/tensor_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "core/expression_parser.h"
#include "graph/pointwise.h"
#include "graph/structural.h"

namespace tpack {
namespace {

using Fn = pointwise::Fn;
using Operand = Builder::Operand;
using Kind = ExpressionNode::Kind;

bool has_name(const ExpressionNode& node) {
  if (node.kind == Kind::kName || node.value.is_string()) return true;
  return std::any_of(node.parts.begin(), node.parts.end(), [](const auto& part) { return has_name(*part); });
}

/// True if the first axis of `s` has the samples of an input of the model, `samples` of them.
bool has_batch_axis(const Symbol& s, int64_t samples, std::set<const Node*>& seen) {
  if (s.shape().rank() == 0 || s.shape()[0] != samples || !seen.insert(s.node).second) return false;
  if (op_cast<Input>(*s.node) != nullptr) return true;
  if (const auto* reduce = op_cast<Reduce>(*s.node)) {
    const std::vector<int>& axes = reduce->params().axes;
    if (axes.empty() || std::find(axes.begin(), axes.end(), 0) != axes.end()) return false;
  }
  return std::any_of(s.node->inputs.begin(), s.node->inputs.end(),
                     [&](const Symbol& input) { return has_batch_axis(input, samples, seen); });
}

/// Rejects operands where NumPy's rule would combine each sample with every other one: [N, 1] and [N] result
/// in [N, N]. Errors: ShapeError.
void check_batch_axes(std::span<const Operand> x) {
  for (const Operand& a : x) {
    for (const Operand& b : x) {
      if (!a.symbol || !b.symbol || a.symbol.shape().rank() <= b.symbol.shape().rank()) continue;
      if (b.symbol.shape().rank() == 0) continue;
      const int64_t samples = a.symbol.shape()[0];
      std::set<const Node*> of_a;
      std::set<const Node*> of_b;
      if (!has_batch_axis(a.symbol, samples, of_a) || !has_batch_axis(b.symbol, samples, of_b)) continue;
      throw ShapeError(
          "shapes " + a.symbol.shape().str() + " and " + b.symbol.shape().str() +
          " have a batch axis each, but different ranks, so samples would mix; add a Reshape layer so that "
          "both have the same rank (of a sample, such as Reshape: [1] or Reshape: [])");
    }
  }
}

/// Emits a parsed formula.
class FormulaEmitter {
 public:
  FormulaEmitter(Builder& b, const TensorFormula::Lookup& value_of) : b_(b), value_of_(value_of) {}

  /// Errors: ConfigError with the place inside the formula.
  Operand emit(const ExpressionNode& node) {
    switch (node.kind) {
      case Kind::kValue:
        return value(node);
      case Kind::kName:
        return b_.to_float(value_of_({{node.text, node.where}, false}));
      case Kind::kCall:
        return called(node);
      case Kind::kAnd:
        return chosen(node, part(node, 0), [&] { return part(node, 1); }, {});
      case Kind::kOr:
        return chosen(node, part(node, 0), {}, [&] { return part(node, 1); });
      case Kind::kCompare:
        return compared(node);
      case Kind::kChoice:
        return chosen(
            node, part(node, 0), [&] { return part(node, 1); }, [&] { return part(node, 2); });
      case Kind::kSubscript:
        break;  // not in this grammar
    }
    return 0.0;
  }

 private:
  using Branch = std::function<Operand()>;

  Operand part(const ExpressionNode& node, size_t index) { return emit(*node.parts[index]); }

  Operand value(const ExpressionNode& node) {
    if (node.value.is_string()) return b_.to_float(value_of_({{node.value.text(), node.where}, true}));
    if (node.value.is_number()) return node.value.as_double();
    return node.value.as_bool() ? 1.0 : 0.0;
  }

  Operand apply(const ExpressionNode& node, Fn fn, const std::array<Operand, 3>& x) {
    const auto given = std::span(x).first(static_cast<size_t>(pointwise::arity(fn)));
    const auto is_tensor = [](const Operand& operand) { return static_cast<bool>(operand.symbol); };
    if (std::any_of(given.begin(), given.end(), is_tensor)) return tensor(node, fn, given);
    const double number = pointwise::evaluate(fn, x[0].value, x[1].value, x[2].value);
    if (!std::isfinite(number)) throw ConfigError(node.where, "the expression has no finite value here");
    return number;
  }

  Operand tensor(const ExpressionNode& node, Fn fn, std::span<const Operand> x) {
    try {
      check_batch_axes(x);
      Shape shape;
      for (const Operand& operand : x) {
        if (operand.symbol) shape = broadcast(shape, operand.symbol.shape());
      }
    } catch (const ShapeError& error) {
      throw ShapeError(node.where, error.problems()[0].text);
    }
    if (x.size() == 1) return b_.apply(fn, {x[0]});
    return x.size() == 2 ? b_.apply(fn, {x[0], x[1]}) : b_.apply(fn, {x[0], x[1], x[2]});
  }

  /// `yes` if the condition is not 0, else `no`; a missing branch means the condition itself.
  Operand chosen(const ExpressionNode& node, const Operand& condition, const Branch& yes, const Branch& no) {
    const Operand first = yes ? yes() : condition;
    const Operand second = no ? no() : condition;
    if (!condition.symbol) return condition.value != 0 ? first : second;
    return apply(node, Fn::kSelect, {condition, first, second});
  }

  Operand called(const ExpressionNode& node) {
    std::vector<Operand> x;
    for (const ExpressionNode::Ptr& each : node.parts) x.push_back(emit(*each));
    if (!node.operation->is_fold()) {
      x.resize(3, 0.0);
      return applied(node, *node.operation, {x[0], x[1], x[2]});
    }
    for (size_t i = 1; i < x.size(); ++i) x[0] = applied(node, *node.operation, {x[0], x[i], 0.0});
    return x[0];
  }

  Operand applied(const ExpressionNode& node, const pointwise::Operation& operation,
                  const std::array<Operand, 3>& x) {
    const auto f = [&](Fn fn, const Operand& a, const Operand& b = 0.0, const Operand& c = 0.0) {
      return apply(node, fn, {a, b, c});
    };
    return pointwise::apply(operation.id, f, x[0], x[1], x[2]);
  }

  /// A chain such as 0 < a < 1 is 1 if all parts are true.
  Operand compared(const ExpressionNode& node) {
    Operand all = 1.0;
    Operand left = part(node, 0);
    for (size_t i = 0; i < node.comparisons.size(); ++i) {
      const Operand right = part(node, i + 1);
      const Operand one = applied(node, *node.comparisons[i], {left, right, 0.0});
      all = i == 0 ? one : apply(node, Fn::kMul, {all, one, 0.0});
      left = right;
    }
    return all;
  }

  Builder& b_;
  const TensorFormula::Lookup& value_of_;
};

}  // namespace

TensorFormula::TensorFormula(Formula formula, const std::string& owner) : formula_(std::move(formula)) {
  if (!has_name(formula_.expression().root()))
    throw ConfigError(position(), owner + ": '" + formula_.text() + "' is not a layer or input");
}

Symbol TensorFormula::emit(Builder& b, const Lookup& value_of) const {
  const Operand result = FormulaEmitter(b, value_of).emit(formula_.expression().root());
  return result.symbol ? b.to_float(result.symbol) : b.constant(result.value);
}

std::string TensorFormula::syntax() {
  return "+ - * / // % **, comparisons, and, or, not, a if c else b, and the functions " +
         ExpressionGrammar().function_names();
}

}  // namespace tpack
