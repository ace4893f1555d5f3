#include <cmath>

#include "costs/regression.h"

namespace tpack {
namespace {

class RootOfMean final : public Accumulation {
 public:
  double value(std::span<const double> total) const override { return std::sqrt(total[0] / total[1]); }
};

struct RootMeanSquaredErrorParams : RegressionFields {};

/// Shapes: predictions [N, ...], targets of the same shape -> (sum of squares, number of elements). Source:
/// scikit-learn's root_mean_squared_error, for one output.
class RootMeanSquaredError final : public Metric {
 public:
  using Params = RootMeanSquaredErrorParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>(
            "Root of the mean squared difference of predictions and targets, over all samples and elements: "
            "an error in the unit of the targets. The corresponding cost is MeanSquaredError.")
            .example("RootMeanSquaredError: {predictions: price, targets: true_price}"));
  }
  explicit RootMeanSquaredError(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "root_mean_squared_error", p_.predictions.position);
    SumAndWeight squares = sum_and_count(b, b.square(difference(model, p_)));
    squares.accumulation = std::make_shared<const RootOfMean>();
    return squares;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, RootMeanSquaredError, "RootMeanSquaredError");

}  // namespace
}  // namespace tpack
