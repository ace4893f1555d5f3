#include "core/functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tpack::pointwise {
namespace {

using Id = Operation::Id;
using enum Result;

constexpr auto kFunctions = std::to_array<Fn>({
#define TPACK_FUNCTION(enumerator, ...) Fn::enumerator,
#include "core/functions.def"
});

/// Inline, so that nothing is left of the switch where `fn` is known.
template <class T>
[[gnu::always_inline]] inline T value_of(Fn fn, T a, T b, T c) {
  switch (fn) {
    case Fn::kInput:
    case Fn::kConstant:
      return a;
#define TPACK_FUNCTION(enumerator, name, arity, result, definition, ...) \
  case Fn::enumerator:                                                   \
    return static_cast<T>(definition);
#include "core/functions.def"
  }
  return a;
}

struct Numbers {
  [[gnu::always_inline]] double operator()(Fn fn, double a, double b = 0, double c = 0) const {
    return value_of(fn, a, b, c);
  }
};

constexpr auto kOperations = std::to_array<Operation>({
#define TPACK_FUNCTION(enumerator, name, arity, result, ...) \
  {Id::enumerator, #name, arity, result,                     \
   [](double a, double b, double c) { return value_of(Fn::enumerator, a, b, c); }},
#define TPACK_COMPOSITE(enumerator, name, arity, result, definition)                               \
  {Id::enumerator, name, arity, result,                                                            \
   []([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c) -> double { \
     [[maybe_unused]] const Numbers f;                                                             \
     return definition;                                                                            \
   }},
#include "core/functions.def"
});

/// Operators of one function; the others are composites, by their sign.
constexpr auto kSigns = std::to_array<std::pair<std::string_view, Id>>({{"+", Id::kAdd},
                                                                        {"-", Id::kSub},
                                                                        {"*", Id::kMul},
                                                                        {"/", Id::kDiv},
                                                                        {"**", Id::kPow},
                                                                        {"==", Id::kEqual},
                                                                        {">", Id::kGreater},
                                                                        {">=", Id::kGreaterEqual}});

const Operation* named(std::string_view name) {
  const auto found =
      std::find_if(kOperations.begin(), kOperations.end(), [&](const auto& row) { return row.name == name; });
  return found == kOperations.end() ? nullptr : &*found;
}

const Operation& row_of(Fn fn) { return kOperations[static_cast<size_t>(fn) - 2]; }

}  // namespace

std::span<const Fn> functions() { return kFunctions; }
const char* name_of(Fn fn) {
  if (fn == Fn::kInput) return "input";
  return fn == Fn::kConstant ? "constant" : row_of(fn).name;
}
int arity(Fn fn) { return fn <= Fn::kConstant ? 0 : static_cast<int>(row_of(fn).arity); }
Result result_of(Fn fn) { return fn <= Fn::kConstant ? kSame : row_of(fn).result; }

template <class T>
T evaluate(Fn fn, T a, T b, T c) {
  return value_of(fn, a, b, c);
}

template float evaluate(Fn, float, float, float);
template double evaluate(Fn, double, double, double);
template int64_t evaluate(Fn, int64_t, int64_t, int64_t);

std::span<const Operation> operations() { return kOperations; }
const Operation& operation(Id id) { return kOperations[static_cast<size_t>(id)]; }

const Operation& operator_of(std::string_view sign) {
  for (const auto& [text, id] : kSigns)
    if (text == sign) return operation(id);
  return *named(sign);
}

bool Operation::is_called() const {
  const auto is_operator = [&](const auto& sign) { return sign.second == id && id != Id::kPow; };
  return id < Id::kFloorDiv && id != Id::kNeg && id != Id::kSelect &&
         std::none_of(kSigns.begin(), kSigns.end(), is_operator);
}

}  // namespace tpack::pointwise
