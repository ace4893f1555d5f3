#include "layers/regression.h"

namespace tpack {
namespace {

struct MeanSquaredErrorCostParams : SampleCostParams, RegressionFields {};

/// (prediction - target)^2. Shapes: predictions [N, ...], targets of the same shape -> losses [N, ...].
class MeanSquaredErrorCost final : public Cost {
 public:
  using Params = MeanSquaredErrorCostParams;
  static Schema<Params> schema() {
    return with_weights(with_regression_fields(
        Schema<Params>("Regression: the mean squared difference of predictions and targets.")
            .example("MeanSquaredError: {predictions: price, targets: true_price}")));
  }
  explicit MeanSquaredErrorCost(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  Symbol losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.predictions.position);
    return b.square(difference(model, p_));
  }

  Params p_;
};

TPACK_REGISTER(Cost, MeanSquaredErrorCost, "MeanSquaredError");

}  // namespace
}  // namespace tpack
