#include <limits>

#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct MeanAbsolutePercentageErrorParams : RegressionFields {};

/// |prediction - target| / |target|, with 2^-52 instead of smaller targets. Shapes: predictions [N, ...],
/// targets of the same shape -> losses [N, ...]. Source: scikit-learn's mean_absolute_percentage_error.
class MeanAbsolutePercentageError final : public Loss {
 public:
  using Params = MeanAbsolutePercentageErrorParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Regression with errors relative to the target: the mean of |prediction - target| / "
                       "|target|, a share, not a percentage. It is huge for targets of 0.")
            .example("MeanAbsolutePercentageError: {predictions: price, targets: true_price}"));
  }
  explicit MeanAbsolutePercentageError(Params p) : p_(std::move(p)) {}

  std::string form() const override { return "a share: 0.1 is 10 %"; }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    const auto [predictions, targets] = compared(model, p_);
    constexpr double kLeast = std::numeric_limits<double>::epsilon();
    return b.div(b.abs(b.sub(predictions, targets)), b.max(b.abs(targets), kLeast));
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return number_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, MeanAbsolutePercentageError, "MeanAbsolutePercentageError");

}  // namespace
}  // namespace tpack
