#include "layers/tensor_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/text.h"
#include "graph/pointwise.h"

namespace tpack {
namespace {

using Fn = pointwise::Fn;
using Operand = Builder::Operand;
using Kind = ExpressionNode::Kind;

struct FormulaFunction {
  const char* name;
  Fn fn;
};
constexpr std::array<FormulaFunction, 11> kFormulaFunctions = {{{"abs", Fn::kAbs},
                                                                {"exp", Fn::kExp},
                                                                {"floor", Fn::kFloor},
                                                                {"log", Fn::kLog},
                                                                {"max", Fn::kMax},
                                                                {"min", Fn::kMin},
                                                                {"rsqrt", Fn::kRsqrt},
                                                                {"sigmoid", Fn::kSigmoid},
                                                                {"sqrt", Fn::kSqrt},
                                                                {"square", Fn::kMul},
                                                                {"tanh", Fn::kTanh}}};

struct Arithmetic {
  const char* sign;
  Fn fn;
};
constexpr std::array<Arithmetic, 4> kArithmetic = {
    {{"+", Fn::kAdd}, {"-", Fn::kSub}, {"*", Fn::kMul}, {"/", Fn::kDiv}}};

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const FormulaFunction& function : kFormulaFunctions) names.emplace_back(function.name);
  return names;
}

bool has_name(const ExpressionNode& node) {
  if (node.kind == Kind::kName || node.value.is_string()) return true;
  return std::any_of(node.parts.begin(), node.parts.end(), [](const auto& part) { return has_name(*part); });
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
      case Kind::kNegate:
        return apply(node, Fn::kNeg, {part(node, 0), 0.0, 0.0});
      case Kind::kNot:
        return apply(node, Fn::kEqual, {part(node, 0), 0.0, 0.0});
      case Kind::kAnd:
        return chosen(node, part(node, 0), [&] { return part(node, 1); }, {});
      case Kind::kOr:
        return chosen(node, part(node, 0), {}, [&] { return part(node, 1); });
      case Kind::kArithmetic:
        return arithmetic(node);
      case Kind::kCompare:
        return compared(node);
      case Kind::kChoice:
        return chosen(
            node, part(node, 0), [&] { return part(node, 1); }, [&] { return part(node, 2); });
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
      Shape shape;
      for (const Operand& operand : x) {
        if (operand.symbol) shape = pointwise::broadcast(shape, operand.symbol.shape());
      }
    } catch (const ShapeError& error) {
      throw ShapeError(node.where, error.problems()[0].text);
    }
    if (x.size() == 1) return b_.apply(fn, {x[0]});
    return x.size() == 2 ? b_.apply(fn, {x[0], x[1]}) : b_.apply(fn, {x[0], x[1], x[2]});
  }

  /// `yes` if the condition is not 0, else `no`; where a branch is missing it is the condition itself.
  Operand chosen(const ExpressionNode& node, const Operand& condition, const Branch& yes, const Branch& no) {
    const Operand first = yes ? yes() : condition;
    const Operand second = no ? no() : condition;
    if (!condition.symbol) return condition.value != 0 ? first : second;
    return apply(node, Fn::kSelect, {condition, first, second});
  }

  Operand arithmetic(const ExpressionNode& node) {
    const Operand left = part(node, 0);
    const Operand right = part(node, 1);
    for (const Arithmetic& one : kArithmetic) {
      if (node.text == one.sign) return apply(node, one.fn, {left, right, 0.0});
    }
    const Operand quotient = apply(node, Fn::kFloor, {apply(node, Fn::kDiv, {left, right, 0.0}), 0.0, 0.0});
    if (node.text == "//") return quotient;
    return apply(node, Fn::kSub, {left, apply(node, Fn::kMul, {quotient, right, 0.0}), 0.0});  // %
  }

  Operand called(const ExpressionNode& node) {
    const auto* function = std::find_if(kFormulaFunctions.begin(), kFormulaFunctions.end(),
                                        [&](const FormulaFunction& f) { return node.text == f.name; });
    Operand result = part(node, 0);
    if (node.text == "square") return apply(node, Fn::kMul, {result, result, 0.0});
    if (node.text != "min" && node.text != "max") return apply(node, function->fn, {result, 0.0, 0.0});
    for (size_t i = 1; i < node.parts.size(); ++i)
      result = apply(node, function->fn, {result, part(node, i), 0.0});
    return result;
  }

  /// A chain such as 0 < a < 1 is 1 where all of it holds.
  Operand compared(const ExpressionNode& node) {
    Operand all = 1.0;
    Operand left = part(node, 0);
    for (size_t i = 0; i < node.operators.size(); ++i) {
      const Operand right = part(node, i + 1);
      const Operand one = comparison(node, node.operators[i], left, right);
      all = i == 0 ? one : apply(node, Fn::kMul, {all, one, 0.0});
      left = right;
    }
    return all;
  }

  Operand comparison(const ExpressionNode& node, const std::string& sign, const Operand& left,
                     const Operand& right) {
    if (sign == ">") return apply(node, Fn::kGreater, {left, right, 0.0});
    if (sign == "<") return apply(node, Fn::kGreater, {right, left, 0.0});
    if (sign == ">=") return apply(node, Fn::kGreaterEqual, {left, right, 0.0});
    if (sign == "<=") return apply(node, Fn::kGreaterEqual, {right, left, 0.0});
    const Operand equal = apply(node, Fn::kEqual, {left, right, 0.0});
    return sign == "==" ? equal : apply(node, Fn::kEqual, {equal, 0.0, 0.0});
  }

  Builder& b_;
  const TensorFormula::Lookup& value_of_;
};

}  // namespace

TensorFormula::TensorFormula(const ConfigNode& text, const std::string& owner) : position_(text.position()) {
  if (!text.is_string() && !text.is_number())
    throw ConfigError(position_, owner + ": expected an expression, found " + text.describe());
  std::vector<Expression::Name> names;
  root_ = parse_expression(text.text(), text.text_position(0), names, function_names());
  if (!has_name(*root_))
    throw ConfigError(position_, owner + ": '" + text.text() + "' names no layer or input");
}

Symbol TensorFormula::emit(Builder& b, const Lookup& value_of) const {
  const Operand result = FormulaEmitter(b, value_of).emit(*root_);
  return result.symbol ? b.to_float(result.symbol) : b.constant(result.value);
}

std::string TensorFormula::syntax() {
  return "+ - * / // %, comparisons, and, or, not, a if c else b, and the functions " +
         join(function_names(), ", ");
}

}  // namespace tpack
