#include "layers/regression.h"

namespace tpack {
namespace {

struct MeanAbsoluteErrorMetricParams : RegressionFields {};

/// Shapes: predictions [N, ...], targets of the same shape -> (sum of absolute values, number of elements).
class MeanAbsoluteErrorMetric final : public Metric {
 public:
  using Params = MeanAbsoluteErrorMetricParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Mean absolute difference of predictions and targets, over samples and elements.")
            .example("MeanAbsoluteError: {predictions: price, targets: true_price}"));
  }
  explicit MeanAbsoluteErrorMetric(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "mean_absolute_error", p_.predictions.position);
    return sum_and_count(b, b.abs(difference(model, p_)));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, MeanAbsoluteErrorMetric, "MeanAbsoluteError");

}  // namespace
}  // namespace tpack
