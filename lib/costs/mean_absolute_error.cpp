#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

/// |prediction - target|, whose gradient is 0 where they are equal. Shapes: predictions [N, ...], targets of
/// the same shape -> losses [N, ...].
class MeanAbsoluteError final : public Loss {
 public:
  using Params = RegressionFields;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Regression where outliers count less than in MeanSquaredError: the mean absolute "
                       "difference of predictions and targets.")
            .example("MeanAbsoluteError: {predictions: price, targets: true_price}"));
  }
  explicit MeanAbsoluteError(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    return b.abs(difference(model, p_));
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return number_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, MeanAbsoluteError, "MeanAbsoluteError");

}  // namespace
}  // namespace tpack
