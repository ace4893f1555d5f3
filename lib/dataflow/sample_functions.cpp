#include "dataflow/sample_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tpack {
namespace {

using pointwise::Result;

constexpr double truth(bool x) { return x ? 1 : 0; }

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
double extremum_of(pointwise::Fn fn, std::span<const double> x) {
  double extremum = x[0];
  for (const double value : x) extremum = pointwise::evaluate(fn, value, extremum, 0.0);
  return extremum;
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
    {"all", Result::kBool, false, [](auto x) { return truth(std::all_of(x.begin(), x.end(), is_true)); }},
    {"any", Result::kBool, false, [](auto x) { return truth(std::any_of(x.begin(), x.end(), is_true)); }},
    {"argmax", Result::kInteger, true, place_of_largest},
    {"max", Result::kOperand, true, [](auto x) { return extremum_of(pointwise::Fn::kMax, x); }},
    {"mean", Result::kFloat, true, [](auto x) { return sum_of(x) / static_cast<double>(x.size()); }},
    {"min", Result::kOperand, true, [](auto x) { return extremum_of(pointwise::Fn::kMin, x); }},
    {"norm", Result::kFloat, false, norm_of},
    {"sum", Result::kSame, false, sum_of},
});

}  // namespace

DType result_type(Result result, std::span<const DType> operands) {
  const auto any = [&](auto is) { return std::any_of(operands.begin(), operands.end(), is); };
  if (result == Result::kBool) return DType::kBool;
  if (result == Result::kInteger) return DType::kInt32;
  if (result == Result::kFloat || any(is_float)) return DType::kFloat32;
  const bool is_one = !any([&](DType one) { return one != operands[0]; });
  if (result == Result::kOperand && is_one) return operands[0];
  return any([](DType one) { return one == DType::kInt64; }) ? DType::kInt64 : DType::kInt32;
}

const SampleReduction* sample_reduction(std::string_view name) {
  const auto found = std::find_if(kReductions.begin(), kReductions.end(),
                                  [&](const SampleReduction& row) { return row.name == name; });
  return found == kReductions.end() ? nullptr : &*found;
}

const ExpressionGrammar& sample_grammar() {
  static const ExpressionGrammar kGrammar = [] {
    ExpressionGrammar grammar{.functions = {{"concat", true}}, .has_subscripts = true};
    for (const SampleReduction& reduction : kReductions) {
      const std::string name = reduction.name;
      if (name != "max" && name != "min") grammar.functions.push_back({name});  // those of all formulas
    }
    return grammar;
  }();
  return kGrammar;
}

}  // namespace tpack
