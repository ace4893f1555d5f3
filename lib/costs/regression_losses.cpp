// Losses that compare predictions with targets, element by element: a row each.
#include <limits>

#include "core/text.h"
#include "costs/loss.h"
#include "costs/regression.h"

namespace tpack {
namespace {

struct RegressionRow {
  const char* summary = "";
  const char* example = "";
  /// The loss for predictions x and targets y; `number` is the row's field.
  Symbol (*losses)(Builder& b, Symbol x, const Builder::Operand& y, double number) = nullptr;
  const char* field = "";  // its one field, if it has one
  double number = 0;       // by default
  Check allowed = {};
  const char* doc = "";
  void (*check)(const RegressionFields& fields, double number) = nullptr;  // Errors: ConfigError.
  const char* form = "";
};

/// Shapes: predictions [N, ...], targets of the same shape -> losses [N, ...].
template <const RegressionRow& kRow>
class RegressionLoss final : public Loss {
 public:
  struct Params : RegressionFields {
    double number = kRow.number;
  };
  static Schema<Params> schema() {
    Schema<Params> schema = with_regression_fields(Schema<Params>(kRow.summary).example(kRow.example));
    if (*kRow.field == 0) return schema;
    return schema.field(kRow.field, &Params::number, kRow.allowed, kRow.doc);
  }
  explicit RegressionLoss(Params p) : p_(std::move(p)) {
    if (kRow.check != nullptr) kRow.check(p_, p_.number);
  }

  std::string form() const override { return kRow.form; }
  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    const Builder::NameScope scope(model.builder(), kind, p_.predictions.position);
    const auto [predictions, targets] = compared(model, p_);
    return kRow.losses(model.builder(), predictions, targets, p_.number);
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return number_target(model, p_);
  }

 private:
  Params p_;
};

using Target = Builder::Operand;

const RegressionRow kSquared{
    .summary = "Regression: the mean squared difference of predictions and targets.",
    .example = "MeanSquaredError: {predictions: price, targets: true_price}",
    .losses = [](Builder& b, Symbol x, const Target& y, double) { return b.square(b.sub(x, y)); }};
/// (prediction - target)^2. Shapes: predictions [N, ...], targets of the same shape -> losses [N, ...].
using MeanSquaredError = RegressionLoss<kSquared>;
TPACK_REGISTER(Loss, MeanSquaredError, "MeanSquaredError");

const RegressionRow kAbsolute{
    .summary =
        "Regression where outliers count less than in MeanSquaredError: the mean absolute difference of "
        "predictions and targets.",
    .example = "MeanAbsoluteError: {predictions: price, targets: true_price}",
    .losses = [](Builder& b, Symbol x, const Target& y, double) { return b.abs(b.sub(x, y)); }};
/// |prediction - target|, whose gradient is 0 where they are equal. Shapes: predictions [N, ...], targets of
/// the same shape -> losses [N, ...].
using MeanAbsoluteError = RegressionLoss<kAbsolute>;
TPACK_REGISTER(Loss, MeanAbsoluteError, "MeanAbsoluteError");

const RegressionRow kPercentage{
    .summary =
        "Regression with errors relative to the target: the mean of |prediction - target| / |target|, a "
        "share, not a percentage. It is huge for targets of 0.",
    .example = "MeanAbsolutePercentageError: {predictions: price, targets: true_price}",
    .losses =
        [](Builder& b, Symbol x, const Target& y, double) {
          constexpr double kLeast = std::numeric_limits<double>::epsilon();
          return b.div(b.abs(b.sub(x, y)), b.max(b.abs(y), kLeast));
        },
    .form = "a share: 0.1 is 10 %"};
/// |prediction - target| / |target|, with 2^-52 instead of smaller targets. Shapes: predictions [N, ...],
/// targets of the same shape -> losses [N, ...]. Source: scikit-learn's mean_absolute_percentage_error.
using MeanAbsolutePercentageError = RegressionLoss<kPercentage>;
TPACK_REGISTER(Loss, MeanAbsolutePercentageError, "MeanAbsolutePercentageError");

const RegressionRow kHuber{.summary =
                               "Regression with outliers: half the squared difference of predictions and "
                               "targets, but linear for differences above delta.",
                           .example = "Huber: {predictions: price, targets: true_price, delta: 0.5}",
                           .losses =
                               [](Builder& b, Symbol x, const Target& y, double delta) {
                                 const Symbol error = b.abs(b.sub(x, y));
                                 const Symbol bounded = b.min(error, delta);
                                 return b.mul(bounded, b.sub(error, b.mul(bounded, 0.5)));
                               },
                           .field = "delta",
                           .number = 1,
                           .allowed = above(0),
                           .doc = "difference above which the loss is linear"};
/// e^2 / 2 if |e| <= delta, else delta * (|e| - delta / 2), with e = prediction - target. Shapes: predictions
/// [N, ...], targets of the same shape -> losses [N, ...]. Source: Huber 1964; the scale is that of PyTorch
/// and Keras.
using Huber = RegressionLoss<kHuber>;
TPACK_REGISTER(Loss, Huber, "Huber");

const RegressionRow kQuantile{
    .summary =
        "Regression of a quantile: with 0.9, nine of ten targets are below the prediction. With 0.5, the "
        "median, it is half of MeanAbsoluteError.",
    .example = "Quantile: {predictions: price, targets: true_price, quantile: 0.9}",
    .losses =
        [](Builder& b, Symbol x, const Target& y, double quantile) {
          const Symbol above = b.sub(x, y);
          return b.mul(b.select(b.greater(above, 0.0), 1 - quantile, quantile), b.abs(above));
        },
    .field = "quantile",
    .number = 0.5,
    .allowed = between(0, 1),
    .doc = "share of targets that should be below the prediction; above 0 and below 1",
    .check =
        [](const RegressionFields& fields, double quantile) {
          if (quantile == 0 || quantile == 1)
            throw ConfigError(fields.predictions.position, "'quantile' of Quantile is " + shortest(quantile) +
                                                               "; must be above 0 and below 1");
        }};
/// quantile * (target - prediction) if the prediction is below, else (1 - quantile) * (prediction - target);
/// the gradient is 0 where they are equal. Shapes: predictions [N, ...], targets of the same shape -> losses
/// [N, ...]. Source: Koenker and Bassett 1978; scikit-learn's mean_pinball_loss.
using Quantile = RegressionLoss<kQuantile>;
TPACK_REGISTER(Loss, Quantile, "Quantile");

const RegressionRow kPoisson{
    .summary =
        "Regression of counts: negative log likelihood of the targets under Poisson distributions. The "
        "predictions are the logarithms of the means; to get counts, apply Elementwise: exp(x).",
    .example = "Poisson: {predictions: log_count, targets: count}",
    .losses = [](Builder& b, Symbol x, const Target& y, double) { return b.sub(b.exp(x), b.mul(x, y)); },
    .check =
        [](const RegressionFields& fields, double) {
          const NumberOrOutput& targets = fields.targets;
          if (targets.output.empty() && targets.number < 0)
            throw ConfigError(targets.output.position, "'targets' of Poisson is " + shortest(targets.number) +
                                                           "; counts must be at least 0");
        }};
/// exp(x) - target * x: the negative log likelihood of the target under a Poisson distribution with mean
/// exp(x), without terms that do not depend on x. Shapes: predictions x [N, ...], targets of the same shape
/// -> losses [N, ...]. Source: Nelder and Wedderburn 1972; PyTorch's PoissonNLLLoss.
using Poisson = RegressionLoss<kPoisson>;
TPACK_REGISTER(Loss, Poisson, "Poisson");

}  // namespace
}  // namespace tpack
