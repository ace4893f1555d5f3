#include "layers/regression.h"

namespace tpack {
namespace {

struct MeanAbsoluteErrorCostParams : SampleCostParams, RegressionFields {};

/// |prediction - target|, whose gradient is 0 where they are equal. Shapes: predictions [N, ...], targets of
/// the same shape -> losses [N, ...].
class MeanAbsoluteErrorCost final : public Cost {
 public:
  using Params = MeanAbsoluteErrorCostParams;
  static Schema<Params> schema() {
    return with_weights(with_regression_fields(
        Schema<Params>("Regression in which outliers weigh less than in MeanSquaredError: the mean absolute "
                       "difference of predictions and targets.")
            .example("MeanAbsoluteError: {predictions: price, targets: true_price}")));
  }
  explicit MeanAbsoluteErrorCost(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  Symbol losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.predictions.position);
    return b.abs(difference(model, p_));
  }

  Params p_;
};

TPACK_REGISTER(Cost, MeanAbsoluteErrorCost, "MeanAbsoluteError");

}  // namespace
}  // namespace tpack
