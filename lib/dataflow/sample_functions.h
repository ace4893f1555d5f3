#pragma once

#include <span>
#include <string_view>

#include "core/expression_parser.h"
#include "tensor/dtype.h"

namespace tpack {

/// What a function of a SampleFormula gives of operands of some types.
enum class ResultType : uint8_t {
  kFloat,   // float32
  kNumber,  // float32 if an operand is a float, else int64 if one is, else int32
  kSame,    // that of the operands if they have one and it is no float64, else as kNumber
  kBool,
  kInteger  // int32
};
DType result_type(ResultType type, std::span<const DType> operands);

/// A function of up to three numbers, element by element. The names that the graph has, too, mean the same.
struct SampleFunction {
  const char* name;
  size_t arity;
  ResultType type;  // of `where`: of its last two operands
  double (*of)(double a, double b, double c);
};

/// Of all elements of a tensor.
struct SampleReduction {
  const char* name;
  ResultType type;
  bool needs_elements;  // has no value of a tensor without elements
  double (*of)(std::span<const double> x);
};

/// An operator ("+", "==", "and", "negate"), or a function that formulas call by name. Null if there is none.
const SampleFunction* sample_operator(std::string_view name);
const SampleFunction* sample_function(std::string_view name);
const SampleReduction* sample_reduction(std::string_view name);

/// Joins tensors along the first axis; numbers are one element.
inline constexpr const char* kConcatName = "concat";

/// What formulas over samples may call. `min` and `max` of one value are reductions.
const ExpressionGrammar& sample_grammar();

}  // namespace tpack
