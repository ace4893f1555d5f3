#include "dataflow/sample_formula.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/text.h"

namespace tpack {
namespace {

using Kind = ExpressionNode::Kind;
using StepKind = FormulaStep::Kind;
using pointwise::Operation;
using pointwise::Result;
using Id = Operation::Id;

bool is_text(const ExpressionNode& node) { return node.kind == Kind::kValue && node.value.is_string(); }
/// The name of a component, or a possible one.
bool is_named(const ExpressionNode& node) { return node.kind == Kind::kName || is_text(node); }
std::string name_in(const ExpressionNode& node) {
  return node.kind == Kind::kName ? node.text : node.value.text();
}

/// Compiles an expression into steps.
class FormulaCompiler {
 public:
  FormulaCompiler(const Spec& in, const std::string& owner, std::vector<FormulaStep>& steps)
      : in_(in), owner_(owner), steps_(steps) {}

  /// The number of the step that computes it.
  size_t of(const ExpressionNode& node) {
    switch (node.kind) {
      case Kind::kValue:
        return node.value.is_string() ? component(node) : number(node, 1);
      case Kind::kName:
        return component(node);
      case Kind::kCall:
        return call(node);
      case Kind::kAnd:
        return elements(node, pointwise::operation(Id::kAnd), {part(node, 0), part(node, 1)});
      case Kind::kOr:
        return elements(node, pointwise::operation(Id::kOr), {part(node, 0), part(node, 1)});
      case Kind::kCompare:
        return chain(node);
      case Kind::kChoice:
        return elements(node, pointwise::operation(Id::kWhere),
                        {part(node, 0), part(node, 1), part(node, 2)});
      case Kind::kSubscript:
        return subscript(node);
    }
    return 0;
  }

 private:
  static bool is_number(const ExpressionNode& node) {
    return node.kind == Kind::kValue && node.value.is_number();
  }
  [[noreturn]] void fail(const ExpressionNode& node, const std::string& text) const {
    throw ConfigError(node.where, owner_ + ": " + text);
  }
  size_t part(const ExpressionNode& node, size_t i) { return of(*node.parts[i]); }

  size_t add(FormulaStep step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }
  /// Its type and shape follow from the operands. Errors: ShapeError.
  size_t add_of_operands(FormulaStep step, Result type, size_t first_typed = 0) {
    std::vector<DType> types;
    std::vector<Shape> shapes;
    for (const size_t operand : step.operands) {
      types.push_back(steps_[operand].result.dtype);
      shapes.push_back(steps_[operand].result.shape);
    }
    try {
      step.result = {result_type(type, std::span(types).subspan(first_typed)), shape_of(step, shapes)};
    } catch (const ShapeError& error) {
      throw ShapeError(step.where, owner_ + ": " + error.problems()[0].text);
    }
    return add(std::move(step));
  }

  size_t number(const ExpressionNode& node, double sign) {
    const ConfigNode& value = node.value;
    DType type = DType::kBool;
    if (value.kind() == ConfigNode::Kind::kFloat) type = DType::kFloat32;
    if (value.kind() == ConfigNode::Kind::kInt) {
      if (value.as_int() > static_cast<int64_t>(kMostExactInteger))
        fail(node, "integers are exact only up to 2^53");
      type = value.as_int() > std::numeric_limits<int32_t>::max() ? DType::kInt64 : DType::kInt32;
    }
    const double number = value.is_number() ? value.as_double() : value.as_bool() ? 1.0 : 0.0;
    return add(
        {.kind = StepKind::kNumber, .where = node.where, .number = sign * number, .result = {type, {}}});
  }

  [[noreturn]] void fail_unknown(const ExpressionNode& node, const std::string& name) const {
    std::vector<std::string> names;
    bool has_images = false;
    for (const ComponentSpec& one : in_) {
      if (std::find(one.classes.begin(), one.classes.end(), name) != one.classes.end())
        fail(node, "unknown component '" + name + "'; for the class of '" + one.name +
                       "', write it in quotes: '" + name + "'");
      names.push_back(one.name);
      has_images |= one.is_image;
    }
    const std::string why = unknown_reference("component", name, node.where, names).problems().front().text;
    fail(node,
         why + (has_images || !did_you_mean(name, names).empty()
                    ? ""
                    : "; to use a column of a table, add it to `columns: {" + name + ": " + name + "}`"));
  }
  size_t component(const ExpressionNode& node) {
    const std::string name = name_in(node);
    if (!in_.find(name)) fail_unknown(node, name);
    const size_t index = *in_.find(name);
    for (size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].kind == StepKind::kComponent && steps_[i].component == index) return i;
    return add(
        {.kind = StepKind::kComponent, .where = node.where, .component = index, .result = in_[index].tensor});
  }

  size_t elements(const ExpressionNode& node, const Operation& operation, std::vector<size_t> operands) {
    const size_t first_typed = operation.id == Id::kWhere ? 1 : 0;
    round_numbers(operands);
    return add_of_operands({.kind = StepKind::kElements,
                            .where = node.where,
                            .operation = &operation,
                            .operands = std::move(operands)},
                           operation.result, first_typed);
  }

  /// A number combined with floats is rounded to float: x == 0.1 is true for the float 0.1.
  void round_numbers(const std::vector<size_t>& operands) {
    const auto is_float32 = [&](size_t i) {
      return steps_[i].kind != StepKind::kNumber && steps_[i].result.dtype == DType::kFloat32;
    };
    if (std::none_of(operands.begin(), operands.end(), is_float32)) return;
    for (const size_t i : operands)
      if (steps_[i].kind == StepKind::kNumber)
        steps_[i].number = static_cast<double>(static_cast<float>(steps_[i].number));
  }

  size_t call(const ExpressionNode& node) {
    const Operation* operation = node.operation;
    if (operation != nullptr && operation->id == Id::kNeg && is_number(*node.parts[0]))
      return number(*node.parts[0], -1);
    std::vector<size_t> operands;
    for (const ExpressionNode::Ptr& each : node.parts) operands.push_back(of(*each));
    const SampleReduction* reduction = sample_reduction(node.text);
    if (reduction != nullptr && operands.size() == 1)
      return add_of_operands(
          {.kind = StepKind::kReduction, .where = node.where, .reduction = reduction, .operands = operands},
          reduction->result);
    if (operation == nullptr)
      return add_of_operands({.kind = StepKind::kConcat, .where = node.where, .operands = operands},
                             Result::kOperand);
    if (!operation->is_fold()) return elements(node, *operation, operands);
    size_t result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) result = elements(node, *operation, {result, operands[i]});
    return result;
  }

  size_t subscript(const ExpressionNode& node) {
    const size_t operand = part(node, 0);
    const DType type = steps_[operand].result.dtype;
    const size_t result = add_of_operands(
        {.kind = StepKind::kSubscript, .where = node.where, .ranges = node.ranges, .operands = {operand}},
        Result::kOperand);
    steps_[result].result.dtype = type;  // float64 stays it
    return result;
  }

  /// a < b < c is true if both comparisons are.
  size_t chain(const ExpressionNode& node) {
    std::optional<size_t> all;
    for (size_t i = 0; i < node.comparisons.size(); ++i) {
      const Operation& sign = *node.comparisons[i];
      const size_t left = compared(sign, *node.parts[i], *node.parts[i + 1]);
      const size_t right = compared(sign, *node.parts[i + 1], *node.parts[i]);
      const size_t one = elements(node, sign, {left, right});
      all = all ? elements(node, pointwise::operation(Id::kAnd), {*all, one}) : one;
    }
    return *all;
  }

  /// One side of a comparison: a string is a class of the component on the other side, if that has classes.
  size_t compared(const Operation& sign, const ExpressionNode& node, const ExpressionNode& other) {
    if (!is_text(node) || !is_named(other)) return of(node);
    const auto label = in_.find(name_in(other));
    if (!label) return of(node);
    const std::string& text = node.value.text();
    const std::vector<std::string>& classes = in_[*label].classes;
    const auto found = std::find(classes.begin(), classes.end(), text);
    if (found == classes.end() && in_.find(text)) return of(node);
    const std::string of_label = "'" + in_[*label].name + "'";
    if (classes.empty())
      fail(node, of_label + " (" + in_[*label].tensor.str() +
                     ") has no class names; compare it with a number, not with '" + text + "'");
    if (found == classes.end())
      fail(node, "unknown class '" + text + "' of " + of_label + did_you_mean(text, classes) + "; it has " +
                     join_first(classes));
    if (sign.id != Id::kEqual && sign.id != Id::kNotEqual)
      fail(node, "classes such as '" + text + "' have no order; use == or !=");
    return add({.kind = StepKind::kNumber,
                .where = node.where,
                .number = static_cast<double>(found - classes.begin()),
                .result = {DType::kInt32, {}}});
  }

  const Spec& in_;
  const std::string& owner_;
  std::vector<FormulaStep>& steps_;
};

void add_components(const ExpressionNode& node, std::vector<std::string>& names) {
  if (is_named(node)) names.push_back(name_in(node));
  for (size_t i = 0; i < node.parts.size(); ++i) {
    const auto is_compared_with = [&](size_t j) { return j < node.parts.size() && is_named(*node.parts[j]); };
    const bool is_class = node.kind == Kind::kCompare && is_text(*node.parts[i]) &&
                          (is_compared_with(i + 1) || (i > 0 && is_compared_with(i - 1)));
    if (!is_class) add_components(*node.parts[i], names);
  }
}

}  // namespace

std::vector<std::string> SampleExpression::components() const {
  std::vector<std::string> names;
  add_components(expression().root(), names);
  return names;
}

std::optional<SampleExpression> Codec<SampleExpression>::parse(const ConfigNode& node, Reader& reader) {
  auto formula = FormulaCodec::parse(node, reader, sample_grammar());
  return formula ? std::optional(SampleExpression(std::move(*formula))) : std::nullopt;
}

SampleFormula::SampleFormula(const SampleExpression& expression, const Spec& in, const std::string& owner) {
  FormulaCompiler(in, owner, steps_).of(expression.expression().root());
}

std::optional<size_t> SampleFormula::copied() const {
  const bool is_name = steps_.size() == 1 && steps_[0].kind == StepKind::kComponent;
  return is_name ? std::optional(steps_[0].component) : std::nullopt;
}

void SampleFormula::store(Datapoint& d, size_t to) const {
  const FormulaValue value = run_formula(steps_, d);
  const Tensor& out = d.renew(to, {result().dtype, value.shape});
  visit(out.dtype(), [&](auto zero) {
    std::transform(value.elements.begin(), value.elements.end(), out.data<decltype(zero)>(),
                   [](double x) { return static_cast<decltype(zero)>(x); });
  });
}

double SampleFormula::value(Datapoint& d) const { return run_formula(steps_, d).elements[0]; }

std::string SampleFormula::syntax() {
  return "+ - * / // % **, comparisons, and, or, not, a if c else b, items and slices such as x[0], x[-1] "
         "and "
         "x[1:3], and the functions " +
         sample_grammar().function_names();
}

}  // namespace tpack
