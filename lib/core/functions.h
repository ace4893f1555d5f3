#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace tpack::pointwise {

/// The functions of pointwise ops (functions.def), and the inputs and constants of expressions.
enum class Fn : uint8_t {
  kInput,
  kConstant,
#define TPACK_FUNCTION(enumerator, ...) enumerator,
#include "core/functions.def"
};

/// The type of a function's result.
enum class Result : uint8_t {
  kFloat,
  kBool,     // 1 or 0
  kSame,     // floats; for integers, exact integers
  kOperand,  // one of its operands
  kWhole,    // whole numbers: in the graph floats, in a config integers
  kInteger   // of formulas only
};

/// All except kInput and kConstant.
std::span<const Fn> functions();
const char* name_of(Fn fn);
int arity(Fn fn);
Result result_of(Fn fn);
inline bool gives_bool(Fn fn) { return result_of(fn) == Result::kBool; }
/// True if its result for integers is an exact integer.
inline bool gives_integers(Fn fn) {
  return result_of(fn) != Result::kFloat && result_of(fn) != Result::kWhole;
}

/// The value of `fn` for scalars: the definition that every kernel must agree with.
template <class T>
T evaluate(Fn fn, T a, T b, T c);

/// A function or operator of formulas: a row of functions.def.
struct Operation {
  enum class Id : uint8_t {
#define TPACK_FUNCTION(enumerator, ...) enumerator,
#define TPACK_COMPOSITE(enumerator, ...) enumerator,
#include "core/functions.def"
  };
  Id id;
  const char* name;
  size_t arity;
  Result result;
  double (*of)(double a, double b, double c);

  /// True for min and max, which take one or more values in formulas.
  bool is_fold() const { return id == Id::kMax || id == Id::kMin; }
  /// False if it is written as an operator only.
  bool is_called() const;
};
std::span<const Operation> operations();
const Operation& operation(Operation::Id id);
/// "+", "<=", "not".
const Operation& operator_of(std::string_view sign);

/// `//` and `%` for operands of `f`, and for numbers as in CPython and NumPy: the remainder has the divisor's
/// sign, and the quotient matches it.
template <class F, class V>
V floor_quotient(const F& f, const V& a, const V& b) {
  return f(Fn::kFloor, f(Fn::kDiv, a, b));
}
template <class F, class V>
V remainder(const F& f, const V& a, const V& b) {
  return f(Fn::kSub, a, f(Fn::kMul, floor_quotient(f, a, b), b));
}
template <class F>
double remainder(const F& /*f*/, double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class F>
double floor_quotient(const F& f, double a, double b) {
  return b == 0 ? a / b : std::round((a - remainder(f, a, b)) / b);
}

/// An operation on values of any kind: `f(fn, a, b, c)` computes one function.
template <class V, class F>
V apply(Operation::Id id, const F& f, const V& a, const V& b, const V& c) {
  switch (id) {
#define TPACK_FUNCTION(enumerator, ...) \
  case Operation::Id::enumerator:       \
    return f(Fn::enumerator, a, b, c);
#define TPACK_COMPOSITE(enumerator, name, arity, result, definition) \
  case Operation::Id::enumerator:                                    \
    return definition;
#include "core/functions.def"
  }
  return a;
}

}  // namespace tpack::pointwise
