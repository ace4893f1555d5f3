#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

/// (prediction - target)^2. Shapes: predictions [N, ...], targets of the same shape -> losses [N, ...].
class MeanSquaredError final : public Loss {
 public:
  using Params = RegressionFields;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Regression: the mean squared difference of predictions and targets.")
            .example("MeanSquaredError: {predictions: price, targets: true_price}"));
  }
  explicit MeanSquaredError(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    return b.square(difference(model, p_));
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return number_target(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, MeanSquaredError, "MeanSquaredError");

}  // namespace
}  // namespace tpack
