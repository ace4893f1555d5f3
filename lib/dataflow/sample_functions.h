#pragma once

#include <span>
#include <string_view>

#include "core/expression.h"
#include "core/functions.h"
#include "tensor/dtype.h"

namespace tpack {

/// Result types of operations of a SampleFormula, for operands of some types: kFloat and all else of a float
/// is float32; kSame and kWhole are int64 if an operand is, else int32; kOperand is the common type of the
/// operands if they have one; kInteger is int32.
DType result_type(pointwise::Result result, std::span<const DType> operands);

/// A reduction of all elements of a tensor.
struct SampleReduction {
  const char* name;
  pointwise::Result result;
  bool needs_elements;  // undefined for a tensor without elements
  double (*of)(std::span<const double> x);
};

/// Null if there is none.
const SampleReduction* sample_reduction(std::string_view name);

/// The functions of formulas over samples: reductions, also `min` and `max` of one value, and `concat`, which
/// joins tensors along the first axis; numbers are one element.
const ExpressionGrammar& sample_grammar();

}  // namespace tpack
