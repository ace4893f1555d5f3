#include <algorithm>
#include <cmath>
#include <limits>

#include "costs/regression.h"

namespace tpack {
namespace {

double median_of(std::vector<double>& values) {
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
    return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Rows are the errors of the outputs of a sample.
class MedianAccumulation final : public Accumulation {
 public:
  explicit MedianAccumulation(size_t outputs) : outputs_(outputs) {}

  bool gathers() const override { return true; }
  double value(std::span<const double> total) const override {
    if (total.back() == 0) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values(static_cast<size_t>(total.back()));
    double sum = 0;
    for (size_t k = 0; k < outputs_; ++k) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = total[i * outputs_ + k];
      sum += median_of(values);
    }
    return sum / static_cast<double>(outputs_);
  }

 private:
  size_t outputs_;
};

struct MedianAbsoluteErrorParams : RegressionFields {};

/// The median of |prediction - target| for each output, then the mean over the outputs. Errors of all samples
/// are kept for it, 8 bytes each. Shapes: predictions [N, ...], targets of the same shape -> ([N, outputs],
/// N). Source: scikit-learn's median_absolute_error.
class MedianAbsoluteError final : public Metric {
 public:
  using Params = MedianAbsoluteErrorParams;
  static Schema<Params> schema() {
    return with_regression_fields(
        Schema<Params>("Median absolute difference of predictions and targets, robust to outliers. It is "
                       "exact over all samples, for any batches.")
            .example("MedianAbsoluteError: {predictions: price, targets: true_price}"));
  }
  explicit MedianAbsoluteError(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "median_absolute_error", p_.predictions.position);
    const Symbol errors = b.abs(difference(model, p_));
    if (errors.shape().rank() == 0)
      throw ShapeError(p_.predictions.position, "metric MedianAbsoluteError: output " + p_.predictions.name +
                                                    " is one number, not one for each sample");
    const int64_t samples = errors.shape()[0];
    const int64_t outputs = errors.shape().elements() / samples;
    return {b.reshape(errors, {samples, outputs}), b.constant(static_cast<double>(samples)),
            std::make_shared<const MedianAccumulation>(static_cast<size_t>(outputs))};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, MedianAbsoluteError, "MedianAbsoluteError");

}  // namespace
}  // namespace tpack
