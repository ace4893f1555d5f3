#include "graph/pointwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/text.h"
#include "graph/builder.h"

namespace tpack::pointwise {
namespace {

std::string text_of(const Expression& e, int reg) {
  const Instruction& instruction = e.code[static_cast<size_t>(reg)];
  if (instruction.fn == Fn::kInput) return "i" + std::to_string(instruction.args[0]);
  if (instruction.fn == Fn::kConstant) return shortest(instruction.value);
  std::string text = std::string(name_of(instruction.fn)) + "(";
  for (int i = 0; i < arity(instruction.fn); ++i) {
    text += (i > 0 ? ", r" : "r") + std::to_string(instruction.args[static_cast<size_t>(i)]);
  }
  return text + ")";
}

using Operand = Builder::Operand;
/// What each argument of a function gets of dy; nothing where it has no gradient.
using Parts = std::array<Symbol, 3>;

Parts parts(Symbol a, Symbol b = {}, Symbol c = {}) { return {a, b, c}; }
Parts none() { return {}; }

/// Of kMax if `is_max`, else of kMin.
Parts parts_of_extremum(Builder& b, const std::array<Operand, 3>& x, Symbol y, Symbol dy, bool is_max) {
  // Against a number the output tells which side won: ReLU needs only its output, not its input.
  const auto beyond = [&](Operand p, Operand q) { return is_max ? b.greater(p, q) : b.greater(q, p); };
  if (!x[1].symbol) return parts(b.select(beyond(y, x[1]), dy, 0.0));
  if (!x[0].symbol) return parts({}, b.select(beyond(y, x[0]), dy, 0.0));
  const Symbol first = is_max ? b.greater_equal(x[0], x[1]) : b.greater_equal(x[1], x[0]);
  return parts(b.select(first, dy, 0.0), b.select(first, 0.0, dy));
}

/// 0 where a power of 0 is constant: as a function of the base for an exponent of 0, of the exponent for a
/// base of 0.
Parts parts_of_power(Builder& b, const Operand& base, const Operand& exponent, Symbol y, Symbol dy) {
  Parts result;
  if (base.symbol && exponent.symbol) {
    const Symbol slope = b.mul(exponent, b.pow(base, b.sub(exponent, 1.0)));
    result[0] = b.mul(dy, b.select(b.equal(exponent, 0.0), 0.0, slope));
  } else if (base.symbol && exponent.value != 0) {
    result[0] = b.mul(dy, b.mul(b.pow(base, exponent.value - 1), exponent));
  }
  if (base.symbol && exponent.symbol) {
    result[1] = b.mul(dy, b.select(b.equal(base, 0.0), 0.0, b.mul(y, b.log(base))));
  } else if (exponent.symbol && base.value != 0) {
    result[1] = b.mul(dy, b.mul(y, std::log(base.value)));
  }
  return result;
}

Parts derivative_of(Fn fn, Builder& b, const std::array<Operand, 3>& x, Symbol y, Symbol dy) {
  switch (fn) {
    case Fn::kInput:
    case Fn::kConstant:
      return none();
#define TPACK_FUNCTION(enumerator, name, arity, result, definition, vector, derivative) \
  case Fn::enumerator:                                                                  \
    return derivative;
#include "core/functions.def"
  }
  return none();
}

}  // namespace

std::string Expression::str() const {
  std::string text;
  for (size_t i = 0; i < code.size(); ++i) {
    text += (i > 0 ? "; r" : "r") + std::to_string(i) + " = " + text_of(*this, static_cast<int>(i));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    text += (i > 0 ? ", r" : " -> r") + std::to_string(results[i]) + " " + tpack::name_of(types[i]);
  }
  return text;
}

bool Expression::is_integral(std::span<const TensorSpec> in) const {
  const auto is_wide = [](DType type) { return type == DType::kInt32 || type == DType::kInt64; };
  bool has_wide = false;
  for (const TensorSpec& spec : in) {
    if (is_float(spec.dtype)) return false;
    has_wide = has_wide || is_wide(spec.dtype);
  }
  for (const DType type : types) {
    if (is_float(type)) return false;
    has_wide = has_wide || is_wide(type);
  }
  return has_wide && std::all_of(code.begin(), code.end(), [](const Instruction& i) {
           return gives_integers(i.fn) && i.value == std::trunc(i.value);
         });
}

std::vector<TensorSpec> Pointwise::infer(std::span<const TensorSpec> in) const {
  Shape shape;
  for (const TensorSpec& spec : in) shape = broadcast(shape, spec.shape);
  std::vector<TensorSpec> out;
  for (const DType type : expression_.types) out.push_back({type, shape});
  return out;
}

std::vector<Symbol> Pointwise::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  std::vector<Symbol> dx(n.inputs.size());
  const Instruction& call = expression_.code.back();
  TPACK_ASSERT(expression_.results.size() == 1, "the gradient comes before fusion");
  if (!is_float(expression_.types[0])) return dx;
  if (call.fn == Fn::kInput) {  // a cast
    if (is_float(n.inputs[0].dtype())) dx[0] = b.cast(dy[0], n.inputs[0].dtype());
    return dx;
  }
  std::array<Operand, 3> operands = {0.0, 0.0, 0.0};
  std::array<int, 3> input_of = {-1, -1, -1};
  for (size_t i = 0; i < static_cast<size_t>(arity(call.fn)); ++i) {
    const Instruction& load = expression_.code[static_cast<size_t>(call.args[i])];
    if (load.fn == Fn::kInput) {
      input_of[i] = load.args[0];
      operands[i] = n.inputs[static_cast<size_t>(load.args[0])];
    } else {
      operands[i] = load.value;
    }
  }
  const Parts of_operands = derivative_of(call.fn, b, operands, n.out(), dy[0]);
  for (size_t i = 0; i < 3; ++i) {
    if (input_of[i] < 0 || !of_operands[i]) continue;
    Symbol& into = dx[static_cast<size_t>(input_of[i])];
    const Symbol& input = n.inputs[static_cast<size_t>(input_of[i])];
    if (!is_float(input.dtype())) continue;
    const Symbol part = b.sum_to(of_operands[i], input.shape());
    into = into ? b.add(into, part) : part;
  }
  return dx;
}

}  // namespace tpack::pointwise
