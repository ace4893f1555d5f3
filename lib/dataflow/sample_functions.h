#pragma once

#include <span>
#include <string_view>

#include "core/expression_parser.h"
#include "tensor/dtype.h"

namespace tpack {

/// Result types of functions of a SampleFormula.
enum class ResultType : uint8_t {
  kFloat,   // float32
  kNumber,  // float32 if an operand is a float, else int64 if one is, else int32
  kSame,    // the common type of the operands unless it is float64, else as kNumber
  kBool,
  kInteger  // int32
};
DType result_type(ResultType type, std::span<const DType> operands);

/// An elementwise function of up to three numbers. Functions with names of the graph do the same.
struct SampleFunction {
  const char* name;
  size_t arity;
  ResultType type;  // for `where`: of its last two operands
  double (*of)(double a, double b, double c);
};

/// A reduction of all elements of a tensor.
struct SampleReduction {
  const char* name;
  ResultType type;
  bool needs_elements;  // undefined for a tensor without elements
  double (*of)(std::span<const double> x);
};

/// An operator ("+", "==", "and", "negate"), or a function that formulas call by name. Null if there is none.
const SampleFunction* sample_operator(std::string_view name);
const SampleFunction* sample_function(std::string_view name);
const SampleReduction* sample_reduction(std::string_view name);

/// Joins tensors along the first axis; numbers are one element.
inline constexpr const char* kConcatName = "concat";

/// The functions of formulas over samples. `min` and `max` of one value are reductions.
const ExpressionGrammar& sample_grammar();

}  // namespace tpack
