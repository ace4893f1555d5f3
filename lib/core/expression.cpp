#include "core/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/expression_parser.h"
#include "core/text.h"

namespace tpack {
namespace {

using Kind = ExpressionNode::Kind;
using pointwise::Fn;
using pointwise::Operation;
using Id = Operation::Id;

constexpr std::string_view kEnvironment = "env.";
constexpr const char* kTooLarge = "the result does not fit into a 64-bit integer";

/// What a name without a value is: an error, or nothing (to the left of `or`).
enum class Unset : uint8_t { kReject, kNull };

bool truthy(const ConfigNode& value) {
  if (value.is_null()) return false;
  if (value.kind() == ConfigNode::Kind::kBool) return value.as_bool();
  if (value.is_number()) return value.as_double() != 0;
  return value.is_string() ? !value.text().empty() : value.size() > 0;
}

bool both_integers(const ConfigNode& a, const ConfigNode& b) {
  return a.kind() == ConfigNode::Kind::kInt && b.kind() == ConfigNode::Kind::kInt;
}

/// Integer `//` and `%`: the quotient is rounded down and the remainder has the divisor's sign.
ConfigNode floor_divide(int64_t a, int64_t b) {
  const bool down = a % b != 0 && (a < 0) != (b < 0);
  return a / b - (down ? 1 : 0);
}

ConfigNode floor_remainder(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

[[noreturn]] void fail(const ExpressionNode& node, const std::string& text) {
  throw ConfigError(node.where, text);
}

void check_divisor(const ExpressionNode& node, const ConfigNode& divisor) {
  const bool divides = node.text == "/" || node.text == "//" || node.text == "%";
  if (divides && divisor.is_number() && divisor.as_double() == 0) fail(node, "division by zero");
}

/// `+`, `-`, `*`, `//` and `%`, exactly.
ConfigNode integers(const ExpressionNode& node, Id id, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (id == Id::kAdd) {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (id == Id::kSub) {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (id == Id::kMul) {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (b == -1) {  // the one quotient that may not fit; every remainder is 0
    if (id == Id::kMod) return 0;
    overflow = __builtin_sub_overflow(int64_t{0}, a, &result);
  } else {
    return id == Id::kFloorDiv ? floor_divide(a, b) : floor_remainder(a, b);
  }
  if (overflow) fail(node, kTooLarge);
  return result;
}

ConfigNode integer_power(const ExpressionNode& node, int64_t a, int64_t exponent) {
  if (exponent == 0 || a == 1) return 1;
  if (a == 0) return 0;
  if (a == -1) return exponent % 2 == 0 ? 1 : -1;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {  // 64 products at most
    if (__builtin_mul_overflow(result, a, &result)) fail(node, kTooLarge);
  }
  return result;
}

ConfigNode to_integer(const ExpressionNode& node, double value) {
  constexpr double kLimit = 9.2e18;
  if (!(std::abs(value) < kLimit))
    fail(node, "'" + node.text + "' of " + shortest(value) + " does not fit into a 64-bit integer");
  return static_cast<int64_t>(value);
}

bool holds(const ExpressionNode& node, const Operation& op, const ConfigNode& a, const ConfigNode& b) {
  const bool numbers = a.is_number() && b.is_number();
  if (op.id == Id::kEqual || op.id == Id::kNotEqual) {
    const bool equal = numbers && !both_integers(a, b) ? a.as_double() == b.as_double() : a.same_value(b);
    return equal == (op.id == Id::kEqual);
  }
  if (!numbers && !(a.is_string() && b.is_string())) {
    fail(node, std::string("'") + op.name + "' compares two numbers or two strings, found " + a.describe() +
                   " and " + b.describe());
  }
  const auto ordered = [&](const auto& x, const auto& y) {
    if (op.id == Id::kLess) return x < y;
    if (op.id == Id::kLessEqual) return x <= y;
    return op.id == Id::kGreater ? x > y : x >= y;
  };
  if (both_integers(a, b)) return ordered(a.as_int(), b.as_int());
  return numbers ? ordered(a.as_double(), b.as_double()) : ordered(a.text(), b.text());
}

/// One function of numbers.
ConfigNode computed(const ExpressionNode& node, Fn fn, const std::array<ConfigNode, 3>& x) {
  const auto& [a, b, c] = x;
  if (fn == Fn::kSelect) return truthy(a) ? b : c;
  if (fn == Fn::kMax || fn == Fn::kMin)
    return holds(node, pointwise::operator_of(fn == Fn::kMax ? ">" : "<"), b, a) ? b : a;
  const pointwise::Result result = pointwise::result_of(fn);
  const bool is_integer = std::all_of(
      x.begin(), x.end(), [](const ConfigNode& one) { return one.kind() == ConfigNode::Kind::kInt; });
  if (is_integer && fn == Fn::kMul) return integers(node, Id::kMul, a.as_int(), b.as_int());
  if (is_integer && fn == Fn::kNeg) return integers(node, Id::kSub, 0, a.as_int());
  if (is_integer && fn == Fn::kAbs) return a.as_int() < 0 ? integers(node, Id::kSub, 0, a.as_int()) : a;
  if (is_integer && result == pointwise::Result::kWhole) return a;
  if (is_integer && result == pointwise::Result::kSame)
    return pointwise::evaluate<int64_t>(fn, a.as_int(), b.as_int(), c.as_int());
  const auto value = pointwise::evaluate<double>(fn, a.as_double(), b.as_double(), c.as_double());
  if (result == pointwise::Result::kBool) return value != 0;
  if (result == pointwise::Result::kWhole) return to_integer(node, value);
  if (std::isfinite(value)) return value;
  const std::string more = pointwise::arity(fn) > 1 ? " and " + shortest(b.as_double()) : "";
  fail(node, "'" + node.text + "' of " + shortest(a.as_double()) + more + " is not a finite number");
}

class Evaluation {
 public:
  explicit Evaluation(const Scope& scope) : scope_(scope) {}

  ConfigNode of(const ExpressionNode& node, Unset unset = Unset::kReject) const;
  /// The value if no name of the scope decides on it. Looks only at what each evaluation computes.
  std::optional<ConfigNode> known(const ExpressionNode& node, Unset unset = Unset::kReject) const;

 private:
  ConfigNode name(const ExpressionNode& node, Unset unset) const;
  std::optional<ConfigNode> looked_up(const ExpressionNode& node) const;
  ConfigNode negated(const ExpressionNode& node) const;
  ConfigNode compared(const ExpressionNode& node) const;
  ConfigNode arithmetic(const ExpressionNode& node) const;
  ConfigNode called(const ExpressionNode& node) const;

  const Scope& scope_;
};

ConfigNode Evaluation::of(const ExpressionNode& node, Unset unset) const {
  switch (node.kind) {
    case Kind::kValue:
      return node.value;
    case Kind::kName:
      return name(node, unset);
    case Kind::kCall:
      if (node.operation->is_called() && node.text != "**") return called(node);
      if (node.operation->id == Id::kNot) return !truthy(of(*node.parts[0]));
      return node.parts.size() == 1 ? negated(node) : arithmetic(node);
    case Kind::kAnd: {
      ConfigNode left = of(*node.parts[0]);
      return truthy(left) ? of(*node.parts[1], unset) : left;
    }
    case Kind::kOr: {
      ConfigNode left = of(*node.parts[0], Unset::kNull);
      return truthy(left) ? left : of(*node.parts[1], unset);
    }
    case Kind::kCompare:
      return compared(node);
    case Kind::kChoice:
      return of(*node.parts[truthy(of(*node.parts[0])) ? 1 : 2], unset);
    case Kind::kSubscript:
      break;  // not in this grammar
  }
  return {};
}

std::optional<ConfigNode> Evaluation::known(const ExpressionNode& node, Unset unset) const {
  if (node.kind == Kind::kName && !is_environment_name(node.text)) return std::nullopt;
  if (node.kind == Kind::kChoice || node.kind == Kind::kAnd || node.kind == Kind::kOr) {
    const auto first = known(*node.parts[0], node.kind == Kind::kOr ? Unset::kNull : Unset::kReject);
    if (!first) return std::nullopt;
    if (node.kind == Kind::kChoice) return known(*node.parts[truthy(*first) ? 1 : 2], unset);
    return truthy(*first) == (node.kind == Kind::kOr) ? first : known(*node.parts[1], unset);
  }
  // A chain of comparisons ends with the first one that does not hold.
  const size_t computed = node.kind == Kind::kCompare ? 2 : node.parts.size();
  bool all_known = computed == node.parts.size();
  std::optional<ConfigNode> last;
  for (size_t i = 0; i < computed; ++i) {
    last = known(*node.parts[i]);
    all_known = all_known && last.has_value();
  }
  if (all_known) return of(node, unset);
  if (last) check_divisor(node, *last);
  return std::nullopt;
}

/// What the scope says; its errors without a place get that of the name.
std::optional<ConfigNode> Evaluation::looked_up(const ExpressionNode& node) const {
  try {
    return scope_.lookup(node.text);
  } catch (const ConfigError& error) {
    Diagnostics placed;
    placed.add(error, node.where);
    placed.throw_if_any();
    throw;
  }
}

ConfigNode Evaluation::name(const ExpressionNode& node, Unset unset) const {
  if (is_environment_name(node.text)) {
    if (auto value = lookup_environment(node.text)) return std::move(*value);
    if (unset == Unset::kNull) return {};
    const std::string variable = node.text.substr(kEnvironment.size());
    fail(node, "environment variable '" + variable + "' is not set; set it, or write '" + node.text +
                   " or DEFAULT'");
  }
  if (auto value = looked_up(node)) return std::move(*value);
  std::vector<std::string> known = scope_.known_names(node.text);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::string names = known.empty() ? "" : "; known: " + join_first(known);
  known.insert(known.end(), {"true", "false"});
  if (lookup_environment(std::string(kEnvironment) + node.text))
    known.push_back(std::string(kEnvironment) + node.text);
  const std::string meant = did_you_mean(node.text, known);
  fail(node, "unknown name '" + node.text + "'" + (meant.empty() ? names : meant));
}

ConfigNode Evaluation::negated(const ExpressionNode& node) const {
  const ConfigNode value = of(*node.parts[0]);
  if (!value.is_number()) fail(node, "'-' needs a number, found " + value.describe());
  if (value.kind() == ConfigNode::Kind::kFloat) return -value.as_double();
  return integers(node, Id::kSub, 0, value.as_int());
}

ConfigNode Evaluation::compared(const ExpressionNode& node) const {
  ConfigNode left = of(*node.parts[0]);
  for (size_t i = 0; i < node.comparisons.size(); ++i) {
    ConfigNode right = of(*node.parts[i + 1]);
    if (!holds(node, *node.comparisons[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

ConfigNode Evaluation::arithmetic(const ExpressionNode& node) const {
  const ConfigNode a = of(*node.parts[0]);
  const ConfigNode b = of(*node.parts[1]);
  if (node.text == "+" && a.is_string() && b.is_string()) {
    constexpr size_t kMaxLength = 65536;  // texts of texts would grow without bound
    if (a.text().size() + b.text().size() > kMaxLength)
      fail(node, "the expression gives a string of more than 65,536 bytes");
    return a.text() + b.text();
  }
  if (!a.is_number() || !b.is_number()) {
    const std::string texts = node.text == "+" ? " or two strings" : "";
    fail(node, "'" + node.text + "' needs two numbers" + texts + ", found " + a.describe() + " and " +
                   b.describe());
  }
  check_divisor(node, b);
  const Id id = node.operation->id;
  if (both_integers(a, b) && id == Id::kPow && b.as_int() >= 0)
    return integer_power(node, a.as_int(), b.as_int());
  if (id == Id::kPow) return computed(node, Fn::kPow, {a, b, 0});
  if (both_integers(a, b) && id != Id::kDiv) return integers(node, id, a.as_int(), b.as_int());
  return node.operation->of(a.as_double(), b.as_double(), 0);
}

/// Calls a function; min and max compare their values one after the other.
ConfigNode Evaluation::called(const ExpressionNode& node) const {
  const Operation& operation = *node.operation;
  std::vector<ConfigNode> x;
  for (const ExpressionNode::Ptr& part : node.parts) {
    x.push_back(of(*part));
    const bool is_condition = operation.id == Id::kWhere && x.size() == 1;
    if (!x.back().is_number() && !is_condition)
      fail(node, "'" + node.text + "' needs numbers, found " + x.back().describe());
  }
  const auto f = [&](Fn fn, const ConfigNode& a, const ConfigNode& b = 0, const ConfigNode& c = 0) {
    return computed(node, fn, {a, b, c});
  };
  if (operation.is_fold()) {
    for (size_t i = 1; i < x.size(); ++i)
      x[0] = f(operation.id == Id::kMax ? Fn::kMax : Fn::kMin, x[0], x[i]);
    return x[0];
  }
  x.resize(3, 0);
  const ConfigNode result = pointwise::apply(operation.id, f, x[0], x[1], x[2]);
  return operation.result == pointwise::Result::kFloat ? result.as_double() : result;
}

using Result = Expression::Result;

std::optional<Result> result_of_numbers(const ExpressionNode& node) {
  const auto of_part = [&](size_t i) { return result_of_numbers(*node.parts[i]); };
  const auto of_both = [&](size_t first) {
    const auto result = of_part(first);
    return result == of_part(first + 1) ? result : std::nullopt;
  };
  switch (node.kind) {
    case Kind::kValue:
      if (node.value.is_number()) return Result::kNumber;
      return node.value.is_string() ? Result::kText : Result::kTruth;
    case Kind::kName:
      return is_environment_name(node.text) ? std::nullopt : std::optional(Result::kNumber);
    case Kind::kCall:
      if (node.text == "+") return of_both(0);
      if (node.operation == nullptr) return std::nullopt;
      return node.operation->result == pointwise::Result::kBool ? Result::kTruth : Result::kNumber;
    case Kind::kCompare:
      return Result::kTruth;
    case Kind::kAnd:
    case Kind::kOr:
      return of_both(0);
    case Kind::kChoice:
      return of_both(1);
    case Kind::kSubscript:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool is_environment_name(std::string_view name) { return name.starts_with(kEnvironment); }

std::optional<ConfigNode> lookup_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str() + kEnvironment.size());
  return value == nullptr ? std::nullopt : std::optional(ConfigNode::plain(value, {}));
}

std::optional<ConfigNode> MapScope::lookup(const std::string& name) const {
  if (const ConfigNode* value = values_.find(name)) return *value;
  return outer_ == nullptr ? std::nullopt : outer_->lookup(name);
}

std::vector<std::string> MapScope::known_names(const std::string& name) const {
  std::vector<std::string> names;
  if (outer_ != nullptr) names = outer_->known_names(name);
  for (const ConfigNode::Entry& entry : values_.entries()) names.push_back(entry.key);
  return names;
}

Expression Expression::parse(std::string_view text, const Position& where, const ExpressionGrammar& grammar) {
  std::vector<Name> names;
  auto root = parse_expression(text, where, names, grammar);
  return {std::move(root), std::move(names)};
}

ConfigNode Expression::evaluate(const Scope& scope) const { return Evaluation(scope).of(*root_); }

void Expression::check() const { Evaluation(MapScope(ConfigNode::map({}))).known(*root_); }

std::optional<Result> Expression::result_of_numbers() const { return tpack::result_of_numbers(*root_); }

std::string environment_hint(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  size_t begin = text.find('$');
  if (begin == std::string_view::npos || text.substr(begin + 1).starts_with('(')) return "";
  begin = std::min(begin + (text.substr(begin + 1).starts_with('{') ? 2 : 1), text.size());
  if (text.substr(begin).starts_with(kEnvironment)) begin += kEnvironment.size();
  const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_letter);
  const std::string name(text.begin() + static_cast<std::ptrdiff_t>(begin), end);
  return name.empty() ? "" : "; write $(env." + name + ") for the environment variable";
}

}  // namespace tpack
