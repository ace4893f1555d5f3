#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct HuberParams : RegressionFields {
  double delta = 1;
};

/// e^2 / 2 if |e| <= delta, else delta * (|e| - delta / 2), with e = prediction - target. Shapes: predictions
/// [N, ...], targets of the same shape -> losses [N, ...]. Source: Huber 1964; the scale is that of PyTorch
/// and Keras.
class Huber final : public Loss {
 public:
  using Params = HuberParams;
  static Schema<Params> schema() {
    return with_regression_fields(
               Schema<Params>("Regression with outliers: half the squared difference of predictions and "
                              "targets, but linear for differences above delta.")
                   .example("Huber: {predictions: price, targets: true_price, delta: 0.5}"))
        .field("delta", &Params::delta, above(0), "difference above which the loss is linear");
  }
  explicit Huber(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    const Symbol error = b.abs(difference(model, p_));
    const Symbol bounded = b.min(error, p_.delta);
    return b.mul(bounded, b.sub(error, b.mul(bounded, 0.5)));
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return number_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, Huber, "Huber");

}  // namespace
}  // namespace tpack
