#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/expression_parser.h"
#include "dataflow/datapoint.h"
#include "dataflow/sample_functions.h"

namespace tpack {

/// One step of a SampleFormula: a computation on the results of earlier steps.
struct FormulaStep {
  enum class Kind : uint8_t { kNumber, kComponent, kSubscript, kElements, kReduction, kConcat };
  Kind kind = Kind::kNumber;
  Position where = {};
  double number = 0;
  size_t component = 0;
  std::vector<SubscriptAxis> ranges = {};
  const pointwise::Operation* operation = nullptr;
  const SampleReduction* reduction = nullptr;
  std::vector<size_t> operands = {};
  TensorSpec result = {};  // as far as known without the sample
};

/// The shape of a step's result. Errors: ShapeError.
Shape shape_of(const FormulaStep& step, std::span<const Shape> operands);

/// The result of a step.
struct FormulaValue {
  Shape shape = {};
  std::vector<double> elements = {};
};

/// All integers up to 2^53 are doubles.
constexpr double kMostExactInteger = 9007199254740992;

/// The result of the last step for one sample. Errors: DataError, with the position in the formula.
FormulaValue run_formula(const std::vector<FormulaStep>& steps, Datapoint& d);

}  // namespace tpack
