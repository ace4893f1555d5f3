#include "core/text.h"
#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct QuantileParams : RegressionFields {
  double quantile = 0.5;
};

/// quantile * (target - prediction) if the prediction is below, else (1 - quantile) * (prediction - target);
/// the gradient is 0 where they are equal. Shapes: predictions [N, ...], targets of the same shape -> losses
/// [N, ...]. Source: Koenker and Bassett 1978; scikit-learn's mean_pinball_loss.
class Quantile final : public Loss {
 public:
  using Params = QuantileParams;
  static Schema<Params> schema() {
    return with_regression_fields(
               Schema<Params>("Regression of a quantile: with 0.9, nine of ten targets are below the "
                              "prediction. With 0.5, the median, it is half of MeanAbsoluteError.")
                   .example("Quantile: {predictions: price, targets: true_price, quantile: 0.9}"))
        .field("quantile", &Params::quantile, between(0, 1),
               "share of targets that should be below the prediction; above 0 and below 1");
  }
  explicit Quantile(Params p) : p_(std::move(p)) {
    if (p_.quantile == 0 || p_.quantile == 1)
      throw ConfigError(p_.predictions.position, "'quantile' of Quantile is " + shortest(p_.quantile) +
                                                     "; must be above 0 and below 1");
  }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    const Symbol above = difference(model, p_);
    const Symbol slope = b.select(b.greater(above, 0.0), 1 - p_.quantile, p_.quantile);
    return b.mul(slope, b.abs(above));
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return number_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, Quantile, "Quantile");

}  // namespace
}  // namespace tpack
