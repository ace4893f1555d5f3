#include <cmath>
#include <limits>

#include "metrics/moments.h"
#include "model/cost.h"

namespace tpack {
namespace {

/// The parts of R2: the sums of squared errors of `count` outputs, then the means of their targets, then the
/// sums of squared differences from these means, and last the number of samples.
template <class T>
struct R2Parts {
  explicit R2Parts(std::span<T> parts) : all(parts), count((parts.size() - 1) / 3) {}
  T& errors(size_t i) const { return all[i]; }
  T& mean(size_t i) const { return all[count + i]; }
  T& variation(size_t i) const { return all[2 * count + i]; }
  T& samples() const { return all.back(); }

  std::span<T> all;
  size_t count;
};

class R2Accumulation final : public Accumulation {
 public:
  void add(std::span<double> total, std::span<const double> more) const override {
    const R2Parts<double> old(total);
    const R2Parts<const double> now(more);
    for (size_t i = 0; i < old.count; ++i) {
      old.errors(i) += now.errors(i);
      join({old.mean(i), old.variation(i)}, old.samples(), now.mean(i), now.variation(i), now.samples());
    }
    old.samples() += now.samples();
  }

  /// The mean over the outputs. If all targets are equal: 1 if they are predicted exactly, else 0.
  double value(std::span<const double> total) const override {
    const R2Parts<const double> parts(total);
    if (total.back() == 0) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (size_t i = 0; i < parts.count; ++i) {
      const bool constant = parts.variation(i) == 0 && !std::isnan(parts.errors(i));
      sum += constant ? (parts.errors(i) == 0 ? 1 : 0) : 1 - parts.errors(i) / parts.variation(i);
    }
    return sum / static_cast<double>(parts.count);
  }
};

struct R2Params {
  Ref<LayerOutput> predictions;
  Ref<LayerOutput> targets;
};

/// 1 - sum (target - prediction)^2 / sum (target - mean of targets)^2 for each output, then the mean over the
/// outputs. Shapes: predictions [N, ...], targets of the same shape -> ([3, outputs], N). Source:
/// scikit-learn's r2_score, also for constant targets.
class R2 final : public Metric {
 public:
  using Params = R2Params;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Coefficient of determination: the share of the variance of targets that the predictions "
               "explain. 1 is perfect, 0 is as good as the mean of the targets. With several outputs per "
               "sample, the mean over them.")
        .example("R2: {predictions: price, targets: true_price}")
        .field("predictions", &Params::predictions, "numbers [N, ...]: an output or input")
        .required()
        .field("targets", &Params::targets,
               "targets: an output or input of the same shape, except for axes of size 1")
        .required();
  }
  explicit R2(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "r2", p_.predictions.position);
    const Symbol given = b.to_float(model.output(p_.predictions));
    if (given.shape().rank() == 0)
      throw ShapeError(p_.predictions.position, "metric R2: output " + p_.predictions.name +
                                                    " is one number, not one for each sample");
    const int64_t samples = given.shape()[0];
    const Shape flat = {samples, given.shape().elements() / samples};
    const Symbol predictions = b.reshape(given, flat);
    const Symbol targets = model.like({0, p_.targets}, predictions).symbol;
    const Symbol mean = b.reduce_mean(targets, {0}, Builder::Keep::kYes);  // [1, outputs]
    const Symbol errors = sum_of_squares(b, b.sub(targets, predictions));
    const Symbol variation = sum_of_squares(b, b.sub(targets, mean));
    const Symbol rows = b.select(row(b, 0), errors, b.select(row(b, 1), mean, variation));
    return {rows, b.constant(static_cast<double>(samples)), std::make_shared<const R2Accumulation>()};
  }

 private:
  static Symbol sum_of_squares(Builder& b, Symbol x) {
    return b.reduce_sum(b.square(x), {0}, Builder::Keep::kYes);
  }
  /// 1 in one of three rows: [3, 1].
  static Symbol row(Builder& b, size_t index) {
    std::vector<double> values(3);
    values[index] = 1;
    return b.constant(Tensor::of({3, 1}, values).cast(b.float_type()));
  }

  Params p_;
};

TPACK_REGISTER(Metric, R2, "R2");

}  // namespace
}  // namespace tpack
