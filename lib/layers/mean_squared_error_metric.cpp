#include "layers/regression.h"

namespace tpack {
namespace {

struct MeanSquaredErrorMetricParams : RegressionFields {};

/// Shapes: predictions [N, ...], targets of the same shape -> (sum of squares, number of elements).
class MeanSquaredErrorMetric final : public Metric {
 public:
  using Params = MeanSquaredErrorMetricParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Mean squared difference of predictions and targets, over samples and elements.")
            .example("MeanSquaredError: {predictions: price, targets: true_price}"));
  }
  explicit MeanSquaredErrorMetric(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "mean_squared_error", p_.predictions.position);
    return sum_and_count(b, b.square(difference(model, p_)));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, MeanSquaredErrorMetric, "MeanSquaredError");

}  // namespace
}  // namespace tpack
