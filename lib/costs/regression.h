#pragma once

#include <concepts>

#include "model/cost.h"

namespace tpack {

/// The fields of costs and metrics of regression.
struct RegressionFields {
  Ref<LayerOutput> predictions;
  NumberOrOutput targets;
};

/// Adds the fields of RegressionFields to a schema whose Params derive from it.
template <std::derived_from<RegressionFields> P>
Schema<P> with_regression_fields(Schema<P> schema) {
  schema
      .field("predictions", static_cast<Ref<LayerOutput> P::*>(&P::predictions),
             "numbers [N, ...]: an output or input")
      .required()
      .field("targets", static_cast<NumberOrOutput P::*>(&P::targets),
             "targets: an output or input of the same shape, except for axes of size 1, or a number for all")
      .required();
  return schema;
}

struct PredictionsAndTargets {
  Symbol predictions;
  Builder::Operand targets;  // of the same shape, or a number
};
/// Both as floats. Errors: ConfigError; ShapeError for a different number of elements.
inline PredictionsAndTargets compared(const ModelView& model, const RegressionFields& fields) {
  const Symbol predictions = model.builder().to_float(model.output(fields.predictions));
  return {predictions, model.like(fields.targets, predictions)};
}

/// The pair that losses of regression compare; empty if the target is one number for all.
inline std::optional<PredictionTarget> number_target(const ModelView& model, const RegressionFields& fields) {
  if (fields.targets.output.empty()) return std::nullopt;
  return PredictionTarget{
      {}, model.output(fields.predictions), model.output(fields.targets.output), fields.targets.output.name};
}

/// predictions - targets, [N, ...].
inline Symbol difference(const ModelView& model, const RegressionFields& fields) {
  const auto [predictions, targets] = compared(model, fields);
  return model.builder().sub(predictions, targets);
}

}  // namespace tpack
