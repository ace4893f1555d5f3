#include "dataflow/sample_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tpack {
namespace {

using Type = ResultType;

constexpr double truth(bool x) { return x ? 1 : 0; }

/// Same as CPython and NumPy: the remainder has the divisor's sign.
double remainder_of(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
double floor_quotient(double a, double b) {
  return b == 0 ? a / b : std::round((a - remainder_of(a, b)) / b);
}
double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }   // NaN if one of them is
double smaller(double a, double b) { return a < b || std::isnan(a) ? a : b; }  // the same

// clang-format off
constexpr std::array kOperators = std::to_array<SampleFunction>({
    {"+", 2, Type::kNumber, [](double a, double b, double) { return a + b; }},
    {"-", 2, Type::kNumber, [](double a, double b, double) { return a - b; }},
    {"*", 2, Type::kNumber, [](double a, double b, double) { return a * b; }},
    {"/", 2, Type::kFloat, [](double a, double b, double) { return a / b; }},
    {"//", 2, Type::kNumber, [](double a, double b, double) { return floor_quotient(a, b); }},
    {"%", 2, Type::kNumber, [](double a, double b, double) { return remainder_of(a, b); }},
    {"**", 2, Type::kFloat, [](double a, double b, double) { return std::pow(a, b); }},
    {"negate", 1, Type::kNumber, [](double a, double, double) { return -a; }},
    {"==", 2, Type::kBool, [](double a, double b, double) { return truth(a == b); }},
    {"!=", 2, Type::kBool, [](double a, double b, double) { return truth(a != b); }},
    {"<", 2, Type::kBool, [](double a, double b, double) { return truth(a < b); }},
    {"<=", 2, Type::kBool, [](double a, double b, double) { return truth(a <= b); }},
    {">", 2, Type::kBool, [](double a, double b, double) { return truth(a > b); }},
    {">=", 2, Type::kBool, [](double a, double b, double) { return truth(a >= b); }},
    {"and", 2, Type::kBool, [](double a, double b, double) { return truth(a != 0 && b != 0); }},
    {"or", 2, Type::kBool, [](double a, double b, double) { return truth(a != 0 || b != 0); }},
    {"not", 1, Type::kBool, [](double a, double, double) { return truth(a == 0); }},
});

constexpr std::array kFunctions = std::to_array<SampleFunction>({
    {"abs", 1, Type::kNumber, [](double a, double, double) { return std::abs(a); }},
    {"ceil", 1, Type::kNumber, [](double a, double, double) { return std::ceil(a); }},
    {"clip", 3, Type::kSame, [](double a, double b, double c) { return smaller(larger(a, b), c); }},
    {"cos", 1, Type::kFloat, [](double a, double, double) { return std::cos(a); }},
    {"erf", 1, Type::kFloat, [](double a, double, double) { return std::erf(a); }},
    {"exp", 1, Type::kFloat, [](double a, double, double) { return std::exp(a); }},
    {"expm1", 1, Type::kFloat, [](double a, double, double) { return std::expm1(a); }},
    {"float", 1, Type::kFloat, [](double a, double, double) { return a; }},
    {"floor", 1, Type::kNumber, [](double a, double, double) { return std::floor(a); }},
    {"int", 1, Type::kInteger, [](double a, double, double) { return std::trunc(a); }},
    {"is_nan", 1, Type::kBool, [](double a, double, double) { return truth(std::isnan(a)); }},
    {"log", 1, Type::kFloat, [](double a, double, double) { return std::log(a); }},
    {"log1p", 1, Type::kFloat, [](double a, double, double) { return std::log1p(a); }},
    {"max", 2, Type::kSame, [](double a, double b, double) { return larger(a, b); }},
    {"min", 2, Type::kSame, [](double a, double b, double) { return smaller(a, b); }},
    {"pow", 2, Type::kFloat, [](double a, double b, double) { return std::pow(a, b); }},
    {"round", 1, Type::kNumber, [](double a, double, double) { return std::nearbyint(a); }},
    {"rsqrt", 1, Type::kFloat, [](double a, double, double) { return 1 / std::sqrt(a); }},
    {"sigmoid", 1, Type::kFloat, [](double a, double, double) { return 1 / (1 + std::exp(-a)); }},
    {"sign", 1, Type::kNumber, [](double a, double, double) { return std::isnan(a) ? a : truth(a > 0) - truth(a < 0); }},
    {"sin", 1, Type::kFloat, [](double a, double, double) { return std::sin(a); }},
    {"softplus", 1, Type::kFloat, [](double a, double, double) { return larger(a, 0) + std::log1p(std::exp(-std::abs(a))); }},
    {"sqrt", 1, Type::kFloat, [](double a, double, double) { return std::sqrt(a); }},
    {"square", 1, Type::kNumber, [](double a, double, double) { return a * a; }},
    {"tanh", 1, Type::kFloat, [](double a, double, double) { return std::tanh(a); }},
    {"trunc", 1, Type::kNumber, [](double a, double, double) { return std::trunc(a); }},
    {"where", 3, Type::kSame, [](double a, double b, double c) { return a != 0 ? b : c; }},
});
// clang-format on

double sum_of(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum;
}
double norm_of(std::span<const double> x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}
double largest_of(std::span<const double> x) {
  double most = x[0];
  for (const double value : x) most = larger(value, most);
  return most;
}
double smallest_of(std::span<const double> x) {
  double least = x[0];
  for (const double value : x) least = smaller(value, least);
  return least;
}
/// The index of the first largest element; of the first NaN if there is one.
double place_of_largest(std::span<const double> x) {
  size_t place = 0;
  for (size_t i = 1; i < x.size() && !std::isnan(x[place]); ++i) {
    if (x[i] > x[place] || std::isnan(x[i])) place = i;
  }
  return static_cast<double>(place);
}
bool is_true(double x) { return x != 0; }

constexpr std::array kReductions = std::to_array<SampleReduction>({
    {"all", Type::kBool, false, [](auto x) { return truth(std::all_of(x.begin(), x.end(), is_true)); }},
    {"any", Type::kBool, false, [](auto x) { return truth(std::any_of(x.begin(), x.end(), is_true)); }},
    {"argmax", Type::kInteger, true, place_of_largest},
    {"max", Type::kSame, true, largest_of},
    {"mean", Type::kFloat, true, [](auto x) { return sum_of(x) / static_cast<double>(x.size()); }},
    {"min", Type::kSame, true, smallest_of},
    {"norm", Type::kFloat, false, norm_of},
    {"sum", Type::kNumber, false, sum_of},
});

template <class Rows>
const typename Rows::value_type* find_row(const Rows& rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

ExpressionGrammar make_grammar() {
  ExpressionGrammar grammar{.has_subscripts = true};
  for (const SampleFunction& function : kFunctions) {
    const bool is_fold = find_row(kReductions, function.name) != nullptr;  // min and max
    grammar.functions.push_back({function.name, is_fold ? 1 : function.arity,
                                 is_fold ? ExpressionGrammar::kAnyNumber : function.arity});
  }
  for (const SampleReduction& reduction : kReductions) {
    if (find_row(kFunctions, reduction.name) == nullptr) grammar.functions.push_back({reduction.name});
  }
  grammar.functions.push_back({kConcatName, 1, ExpressionGrammar::kAnyNumber});
  std::sort(grammar.functions.begin(), grammar.functions.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return grammar;
}

}  // namespace

DType result_type(ResultType type, std::span<const DType> operands) {
  const auto any = [&](auto is) { return std::any_of(operands.begin(), operands.end(), is); };
  if (type == Type::kBool) return DType::kBool;
  if (type == Type::kInteger) return DType::kInt32;
  if (type == Type::kFloat || any(is_float)) return DType::kFloat32;
  const bool is_one = !any([&](DType one) { return one != operands[0]; });
  if (type == Type::kSame && is_one) return operands[0];
  return any([](DType one) { return one == DType::kInt64; }) ? DType::kInt64 : DType::kInt32;
}

const SampleFunction* sample_operator(std::string_view name) { return find_row(kOperators, name); }
const SampleFunction* sample_function(std::string_view name) { return find_row(kFunctions, name); }
const SampleReduction* sample_reduction(std::string_view name) { return find_row(kReductions, name); }

const ExpressionGrammar& sample_grammar() {
  static const ExpressionGrammar kGrammar = make_grammar();
  return kGrammar;
}

}  // namespace tpack
