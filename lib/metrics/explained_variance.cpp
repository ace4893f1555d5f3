#include <cmath>
#include <limits>

#include "costs/regression.h"
#include "metrics/moments.h"
#include "ops/concat.h"

namespace tpack {
namespace {

/// The parts are the mean of the errors of each output, then their variations (the sums of squared
/// differences from the mean), then the same for the targets, and last the number of samples.
class ExplainedVarianceAccumulation final : public Accumulation {
 public:
  void add(std::span<double> total, std::span<const double> more) const override {
    const size_t outputs = (total.size() - 1) / 4;
    for (const size_t first : {size_t{0}, 2 * outputs}) {
      for (size_t i = first; i < first + outputs; ++i)
        join({total[i], total[i + outputs]}, total.back(), more[i], more[i + outputs], more.back());
    }
    total.back() += more.back();
  }

  /// The mean over the outputs. If all targets are equal: 1 if the errors are also equal, else 0.
  double value(std::span<const double> total) const override {
    if (total.back() == 0) return std::numeric_limits<double>::quiet_NaN();
    const size_t outputs = (total.size() - 1) / 4;
    double sum = 0;
    for (size_t i = 0; i < outputs; ++i) {
      const double errors = total[outputs + i];
      const double targets = total[3 * outputs + i];
      const bool constant = targets == 0 && !std::isnan(errors);
      sum += constant ? (errors == 0 ? 1 : 0) : 1 - errors / targets;
    }
    return sum / static_cast<double>(outputs);
  }
};

struct ExplainedVarianceParams {
  Ref<LayerOutput> predictions;
  Ref<LayerOutput> targets;
};

/// 1 - variance of (target - prediction) / variance of the targets for each output, then the mean over the
/// outputs. Shapes: predictions [N, ...], targets of the same shape -> ([4, outputs], N). Source:
/// scikit-learn's explained_variance_score, also for constant targets.
class ExplainedVariance final : public Metric {
 public:
  using Params = ExplainedVarianceParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "The share of the variance of targets that the predictions explain, ignoring their mean error "
               "(unlike R2). 1 is perfect. With several outputs per sample, the mean over them. It is exact "
               "over all samples, for any batches.")
        .example("ExplainedVariance: {predictions: price, targets: true_price}")
        .field("predictions", &Params::predictions, "numbers [N, ...]: an output or input")
        .required()
        .field("targets", &Params::targets,
               "targets: an output or input of the same shape, except for axes of size 1")
        .required();
  }
  explicit ExplainedVariance(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "explained_variance", p_.predictions.position);
    const Symbol given = b.to_float(model.output(p_.predictions));
    if (given.shape().rank() == 0)
      throw ShapeError(p_.predictions.position, "metric ExplainedVariance: output " + p_.predictions.name +
                                                    " is one number, not one for each sample");
    const int64_t samples = given.shape()[0];
    const Shape flat = {samples, given.shape().elements() / samples};
    const Symbol targets = b.reshape(model.like({0, p_.targets}, given).symbol, flat);
    std::vector<Symbol> rows;
    for (const Symbol& x : {b.sub(targets, b.reshape(given, flat)), targets}) {
      const Symbol mean = b.reduce_mean(x, {0}, Builder::Keep::kYes);
      rows.push_back(mean);
      rows.push_back(b.reduce_sum(b.square(b.sub(x, mean)), {0}, Builder::Keep::kYes));
    }
    return {concat(b, rows, 0), b.constant(static_cast<double>(samples)),
            std::make_shared<const ExplainedVarianceAccumulation>()};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, ExplainedVariance, "ExplainedVariance");

}  // namespace
}  // namespace tpack
