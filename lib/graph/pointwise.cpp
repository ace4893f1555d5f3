#include "graph/pointwise.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "graph/builder.h"

namespace tpack::pointwise {
namespace {

struct FnInfo {
  Fn fn;
  const char* name;
  int arity;
};
constexpr std::array<FnInfo, 24> kFunctions = {
    {{Fn::kInput, "input", 0},     {Fn::kConstant, "constant", 0},
     {Fn::kAdd, "add", 2},         {Fn::kSub, "sub", 2},
     {Fn::kMul, "mul", 2},         {Fn::kDiv, "div", 2},
     {Fn::kMax, "max", 2},         {Fn::kMin, "min", 2},
     {Fn::kGreater, "greater", 2}, {Fn::kGreaterEqual, "greater_equal", 2},
     {Fn::kEqual, "equal", 2},     {Fn::kSelect, "select", 3},
     {Fn::kNeg, "neg", 1},         {Fn::kAbs, "abs", 1},
     {Fn::kExp, "exp", 1},         {Fn::kExpm1, "expm1", 1},
     {Fn::kLog, "log", 1},         {Fn::kSqrt, "sqrt", 1},
     {Fn::kRsqrt, "rsqrt", 1},     {Fn::kTanh, "tanh", 1},
     {Fn::kSigmoid, "sigmoid", 1}, {Fn::kSoftplus, "softplus", 1},
     {Fn::kFloor, "floor", 1},     {Fn::kTrunc, "trunc", 1}}};

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

/// What each argument of one function gets of dy; the formulas use the output y where that lets the input be
/// dropped.
class Derivative {
 public:
  using Operand = Builder::Operand;
  Derivative(Builder& b, Symbol y, Symbol dy) : b_(b), y_(y), dy_(dy) {}

  std::array<Symbol, 3> of(Fn fn, const std::array<Operand, 3>& x) const {
    switch (fn) {
      case Fn::kAdd:
        return {dy_, dy_, {}};
      case Fn::kSub:
        return {dy_, b_.neg(dy_), {}};
      case Fn::kMul:
        return {b_.mul(dy_, x[1]), b_.mul(dy_, x[0]), {}};
      case Fn::kDiv:
        return {b_.div(dy_, x[1]), b_.neg(b_.div(b_.mul(dy_, y_), x[1])), {}};
      case Fn::kMax:
        return extremum(x[0], x[1], true);
      case Fn::kMin:
        return extremum(x[0], x[1], false);
      case Fn::kSelect:
        return {Symbol{}, b_.select(x[0], dy_, 0.0), b_.select(x[0], 0.0, dy_)};
      default:
        return {unary(fn, x[0]), {}, {}};
    }
  }

 private:
  std::array<Symbol, 3> extremum(const Operand& a, const Operand& c, bool is_max) const {
    // Against a number the output tells which side won: ReLU needs only its output, not its input.
    const auto beyond = [&](Operand p, Operand q) { return is_max ? b_.greater(p, q) : b_.greater(q, p); };
    if (!c.symbol) return {b_.select(beyond(y_, c), dy_, 0.0), {}, {}};
    if (!a.symbol) return {Symbol{}, b_.select(beyond(y_, a), dy_, 0.0), {}};
    const Symbol first = is_max ? b_.greater_equal(a, c) : b_.greater_equal(c, a);
    return {b_.select(first, dy_, 0.0), b_.select(first, 0.0, dy_), {}};
  }

  Symbol unary(Fn fn, const Operand& x) const {
    switch (fn) {
      case Fn::kNeg:
        return b_.neg(dy_);
      case Fn::kAbs:
        // 0 at 0; NaN at NaN, where the difference of x and itself is.
        return b_.mul(dy_, b_.add(b_.sub(b_.greater(x, 0.0), b_.greater(0.0, x)), b_.sub(x, x)));
      case Fn::kExp:
        return b_.mul(dy_, y_);
      case Fn::kExpm1:  // of y it would have no digit left where y is near -1
        return b_.mul(dy_, b_.exp(x.symbol));
      case Fn::kSoftplus:
        return b_.mul(dy_, b_.sigmoid(x.symbol));
      case Fn::kLog:
        return b_.div(dy_, x);
      case Fn::kSqrt:
        return b_.div(b_.mul(dy_, 0.5), y_);
      case Fn::kRsqrt:
        return b_.mul(b_.mul(b_.mul(dy_, -0.5), y_), b_.mul(y_, y_));  // y^3 may overflow
      case Fn::kTanh:
        return b_.mul(dy_, b_.sub(1.0, b_.mul(y_, y_)));
      case Fn::kSigmoid:
        return b_.mul(dy_, b_.mul(y_, b_.sub(1.0, y_)));
      default:
        return {};  // steps: comparisons, floor, trunc
    }
  }

  Builder& b_;
  Symbol y_;
  Symbol dy_;
};

}  // namespace

const char* name_of(Fn fn) { return kFunctions[static_cast<size_t>(fn)].name; }
int arity(Fn fn) { return kFunctions[static_cast<size_t>(fn)].arity; }

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

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int extra = static_cast<int>(longer.rank() - shorter.rank());
  for (int i = 0; i < static_cast<int>(shorter.rank()); ++i) {
    const int64_t there = longer[i + extra];
    const int64_t here = shorter[i];
    if (there != here && there != 1 && here != 1) {
      throw ShapeError("shapes " + a.str() + " and " + b.str() +
                       " do not broadcast: " + std::to_string(there) + " against " + std::to_string(here));
    }
    out = out.with(i + extra, there == 1 ? here : there);
  }
  return out;
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
  std::array<Builder::Operand, 3> operands = {0.0, 0.0, 0.0};
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
  const auto parts = Derivative(b, n.out(), dy[0]).of(call.fn, operands);
  for (size_t i = 0; i < 3; ++i) {
    if (input_of[i] < 0 || !parts[i]) continue;
    Symbol& into = dx[static_cast<size_t>(input_of[i])];
    const Symbol& input = n.inputs[static_cast<size_t>(input_of[i])];
    if (!is_float(input.dtype())) continue;
    const Symbol part = b.sum_to(parts[i], input.shape());
    into = into ? b.add(into, part) : part;
  }
  return dx;
}

template <class T>
T evaluate(Fn fn, T a, T b, T c) {
  switch (fn) {
    case Fn::kInput:
    case Fn::kConstant:
      return a;
    case Fn::kAdd:
      return a + b;
    case Fn::kSub:
      return a - b;
    case Fn::kMul:
      return a * b;
    case Fn::kDiv:
      return a / b;
    case Fn::kMax:
      return a > b || std::isnan(a) ? a : b;
    case Fn::kMin:
      return a < b || std::isnan(a) ? a : b;
    case Fn::kGreater:
      return static_cast<T>(a > b);
    case Fn::kGreaterEqual:
      return static_cast<T>(a >= b);
    case Fn::kEqual:
      return static_cast<T>(a == b);
    case Fn::kSelect:
      return a != 0 ? b : c;
    case Fn::kNeg:
      return -a;
    case Fn::kAbs:
      return std::abs(a);
    case Fn::kExp:
      return std::exp(a);
    case Fn::kExpm1:
      return std::expm1(a);
    case Fn::kLog:
      return std::log(a);
    case Fn::kSqrt:
      return std::sqrt(a);
    case Fn::kRsqrt:
      return 1 / std::sqrt(a);
    case Fn::kTanh:
      return std::tanh(a);
    case Fn::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Fn::kSoftplus:
      return (a > 0 || std::isnan(a) ? a : 0) + std::log1p(std::exp(-std::abs(a)));
    case Fn::kFloor:
      return std::floor(a);
    case Fn::kTrunc:
      return std::trunc(a);
  }
  return a;
}

template float evaluate(Fn, float, float, float);
template double evaluate(Fn, double, double, double);

}  // namespace tpack::pointwise
