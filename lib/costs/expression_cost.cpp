#include <string>

#include "model/cost.h"
#include "model/tensor_formula.h"

namespace tpack {
namespace {

/// Outputs of the model as names in a formula over samples.
class SampleValues {
 public:
  explicit SampleValues(const ModelView& model) : model_(model), b_(model.builder()) {}

  /// [N], or [] for one number. Errors: ConfigError with suggestion; ShapeError for other shapes.
  Symbol operator()(const Ref<LayerOutput>& ref) {
    const Symbol symbol = model_.output(ref);
    const Shape& shape = symbol.shape();
    if (shape.rank() == 0) return symbol;
    if (shape.elements() != shape[0]) {
      throw ShapeError(ref.position, "output " + ref.name + " has shape " + shape.str() +
                                         ", but an expression needs one value per sample, or one number");
    }
    if (first_.empty()) {
      first_ = ref;
      samples_ = shape[0];
    } else if (shape[0] != samples_) {
      throw ShapeError(ref.position, "output " + ref.name + " has " + std::to_string(shape[0]) +
                                         " values, but " + first_.name + " has " + std::to_string(samples_));
    }
    return b_.reshape(symbol, {samples_});
  }

 private:
  const ModelView& model_;
  Builder& b_;
  Ref<LayerOutput> first_;  // with a value for each sample
  int64_t samples_ = 0;
};

std::string formula_help() {
  return "formula of layers and inputs: " + TensorFormula::syntax() +
         "; put single quotes around a name with / or -: 'body/fc'";
}

struct ExpressionCostParams : SampleCostParams {
  Formula expression;
};

/// Shapes: outputs [] or of one value per sample ([N], [N, 1], ...) -> losses [N], or one number [] if no
/// output has a value per sample.
class ExpressionCost final : public Cost {
 public:
  using Params = ExpressionCostParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>(
            "The mean over the samples of a formula of outputs that are one value per sample, or one number.")
            .example("Expression: \"max(1 - real, 0) + max(1 + fake, 0)\"")
            .field("expression", &Params::expression, formula_help().c_str())
            .type(FieldType::text())
            .required()
            .shorthand());
  }
  explicit ExpressionCost(const Params& p) : Cost(p), formula_(p.expression, "cost Expression") {}

 private:
  SampleLosses losses(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "cost", formula_.position());
    SampleValues values(model);
    return formula_.emit(model.builder(),
                         [&](const TensorFormula::Name& name) { return values(name.output); });
  }

  TensorFormula formula_;
};

struct ExpressionMetricParams {
  Formula expression;
};

/// Shapes: as the cost -> (sum over the samples, their number); for one number, over the batches.
class ExpressionMetric final : public Metric {
 public:
  using Params = ExpressionMetricParams;
  static Schema<Params> schema() {
    return Schema<Params>("The mean of a formula over the samples.")
        .example("Expression: {expression: abs(real - fake) < 1, name: near}")
        .field("expression", &Params::expression, formula_help().c_str())
        .type(FieldType::text())
        .required()
        .shorthand();
  }
  explicit ExpressionMetric(const Params& p) : formula_(p.expression, "metric Expression") {}

  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "metric", formula_.position());
    SampleValues values(model);
    const Symbol result =
        formula_.emit(model.builder(), [&](const TensorFormula::Name& name) { return values(name.output); });
    return sum_and_count(model.builder(), model.builder().to_float(result));
  }

 private:
  TensorFormula formula_;
};

TPACK_REGISTER(Cost, ExpressionCost, "Expression");
TPACK_REGISTER(Metric, ExpressionMetric, "Expression");

}  // namespace
}  // namespace tpack
