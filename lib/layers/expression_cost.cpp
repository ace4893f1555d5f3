#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/expression_parser.h"
#include "core/text.h"
#include "graph/pointwise.h"
#include "layers/cost.h"

namespace tpack {
namespace {

using Fn = pointwise::Fn;
using Operand = Builder::Operand;
using Kind = ExpressionNode::Kind;

struct Function {
  const char* name;
  Fn fn;
};
constexpr std::array<Function, 9> kFunctions = {{{"abs", Fn::kAbs},
                                                 {"exp", Fn::kExp},
                                                 {"log", Fn::kLog},
                                                 {"max", Fn::kMax},
                                                 {"min", Fn::kMin},
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
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

/// Emits a parsed expression over outputs of the model. Parts without a name are numbers, computed at once.
class ExpressionEmitter {
 public:
  explicit ExpressionEmitter(const ModelView& model) : model_(model), b_(model.builder()) {}

  /// Errors: ConfigError with the place inside the expression.
  Operand emit(const ExpressionNode& node) {
    switch (node.kind) {
      case Kind::kValue:
        return value(node);
      case Kind::kName:
        return output({node.text, node.where});
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

  /// A string is a name that the grammar has no word for: 'left/mean'.
  Operand value(const ExpressionNode& node) {
    if (node.value.is_string()) return output({node.value.text(), node.where});
    if (node.value.is_number()) return node.value.as_double();
    return node.value.as_bool() ? 1.0 : 0.0;
  }

  Operand output(const Ref<LayerOutput>& ref) {
    const Symbol symbol = b_.to_float(model_.output(ref));
    const Shape& shape = symbol.shape();
    if (shape.rank() == 0) return symbol;
    if (shape.elements() != shape[0]) {
      throw ShapeError(ref.position, "output " + ref.name + " has shape " + shape.str() +
                                         ", but an expression needs one value per sample, or one number");
    }
    if (first_.empty()) {
      first_ = ref;
      samples_ = shape[0];
    } else if (shape[0] != samples_) {
      throw ShapeError(ref.position, "output " + ref.name + " has " + std::to_string(shape[0]) +
                                         " values, but " + first_.name + " has " + std::to_string(samples_));
    }
    return b_.reshape(symbol, {samples_});
  }

  Operand apply(const ExpressionNode& node, Fn fn, const std::array<Operand, 3>& x) {
    const int arity = pointwise::arity(fn);
    const auto given = std::span(x).first(static_cast<size_t>(arity));
    if (std::any_of(given.begin(), given.end(), [](const Operand& o) { return bool(o.symbol); })) {
      if (arity == 1) return b_.apply(fn, {x[0]});
      return arity == 2 ? b_.apply(fn, {x[0], x[1]}) : b_.apply(fn, {x[0], x[1], x[2]});
    }
    const double number = pointwise::evaluate(fn, x[0].value, x[1].value, x[2].value);
    if (!std::isfinite(number)) throw ConfigError(node.where, "the expression has no finite value here");
    return number;
  }

  /// `yes` if the condition is not 0, else `no`; where a branch is missing it is the condition itself.
  Operand chosen(const ExpressionNode& node, const Operand& condition, const Branch& yes, const Branch& no) {
    const Operand first = yes ? yes() : condition;
    const Operand second = no ? no() : condition;
    if (!condition.symbol) return condition.value != 0 ? first : second;
    return apply(node, Fn::kSelect, {condition, first, second});
  }

  Operand arithmetic(const ExpressionNode& node) {
    for (const Arithmetic& one : kArithmetic) {
      if (node.text == one.sign) return apply(node, one.fn, {part(node, 0), part(node, 1), 0.0});
    }
    throw ConfigError(node.where, "'" + node.text + "' is not supported in a cost; use + - * /");
  }

  Operand called(const ExpressionNode& node) {
    const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                        [&](const Function& f) { return node.text == f.name; });
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

  const ModelView& model_;
  Builder& b_;
  Ref<LayerOutput> first_;  // that has a value for each sample
  int64_t samples_ = 0;
};

/// True if the expression depends on the model.
bool has_name(const ExpressionNode& node) {
  if (node.kind == Kind::kName || node.value.is_string()) return true;
  return std::any_of(node.parts.begin(), node.parts.end(), [](const auto& part) { return has_name(*part); });
}

struct ExpressionCostParams : SampleCostParams {
  ConfigNode expression;
};

/// Shapes: outputs [] or of one value per sample ([N], [N, 1], ...) -> losses [N], or one number [] if no
/// output has a value per sample.
class ExpressionCost final : public Cost {
 public:
  using Params = ExpressionCostParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>("Whatever a formula says of outputs that are one value per sample, or one number: the "
                       "mean over the samples.")
            .example("Expression: \"max(1 - real, 0) + max(1 + fake, 0)\"")
            .field(
                "expression", &Params::expression,
                ("formula of layers and inputs: + - * /, comparisons, and, or, not, a if c else b, and the "
                 "functions " +
                 join(function_names(), ", ") + "; a name with / or - is in single quotes: 'body/fc'")
                    .c_str())
            .type(FieldType::text())
            .required()
            .shorthand());
  }
  explicit ExpressionCost(const Params& p) : Cost(p), position_(p.expression.position()) {
    const ConfigNode& text = p.expression;
    if (!text.is_string() && !text.is_number())
      throw ConfigError(position_, "cost Expression: expected an expression, found " + text.describe());
    std::vector<Expression::Name> names;
    root_ = parse_expression(text.text(), text.text_position(0), names, function_names());
    if (!has_name(*root_))
      throw ConfigError(position_, "cost Expression: '" + text.text() + "' names no layer or input");
  }

 private:
  Symbol losses(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "cost", position_);
    const Operand result = ExpressionEmitter(model).emit(*root_);
    return result.symbol ? model.builder().to_float(result.symbol) : model.builder().constant(result.value);
  }

  Position position_;
  ExpressionNode::Ptr root_;
};

TPACK_REGISTER(Cost, ExpressionCost, "Expression");

}  // namespace
}  // namespace tpack
