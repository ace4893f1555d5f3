#include <cmath>
#include <limits>

#include "metrics/probabilities.h"
#include "ops/arg_max.h"

namespace tpack {
namespace {

/// The parts are, for each bin, the sum of confidences minus the number of right samples.
class CalibrationAccumulation final : public Accumulation {
 public:
  double value(std::span<const double> total) const override {
    if (total.back() == 0) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (const double excess : total.first(total.size() - 1)) sum += std::abs(excess);
    return sum / total.back();
  }
};

struct CalibrationErrorParams : ProbabilityFields {
  int64_t bins = 15;
};

/// Bin b of B has the confidences above b / B and at most (b + 1) / B, the first one also 0. For classes, the
/// confidence is the largest probability, and a sample of that class (the first among equals) is right; for
/// binary labels, the confidence is the probability, and a positive label is right. Shapes: logits [N, C],
/// labels int32 [N] -> ([bins], N); logits [N, ...], labels of their size -> ([bins], number of elements).
/// Source: Guo et al. 2017, section 2.
class CalibrationError final : public Metric {
 public:
  using Params = CalibrationErrorParams;
  static Schema<Params> schema() {
    return with_probabilities(
               Schema<Params>("Expected calibration error: the difference between confidences and the share "
                              "of right samples at that confidence, over bins of equal width; 0 is perfect. "
                              "It is exact over all samples, for any batches."))
        .example("CalibrationError: {logits: logits, labels: label}")
        .field("bins", &Params::bins, between(1, 10000), "number of bins from 0 to 1");
  }
  explicit CalibrationError(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  std::string form() const override {
    return "expected calibration error of the most likely class, " + std::to_string(p_.bins) +
           " bins of equal width";
  }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "calibration_error", p_.logits.position);
    const ProbabilitiesAndFacts all = probabilities_and_facts(model, p_);
    const int64_t count = all.are_classes ? all.facts.shape()[0] : all.facts.shape().elements();
    Symbol confidence = all.probabilities;
    Symbol right = all.facts;
    if (all.are_classes) {
      const Symbol best = b.emit<ArgMax>({1}, {all.probabilities}).out();
      confidence = b.reduce_max(all.probabilities, {1});
      right = b.reduce_sum(b.mul(one_hot(b, best, all.facts.shape()[1]), all.facts), {1});
    }
    confidence = b.reshape(confidence, {count});
    // The largest integer below: -1 - floor(-x).
    const auto bins = static_cast<double>(p_.bins);
    const Symbol below = b.sub(-1.0, b.floor(b.mul(confidence, -bins)));
    const Symbol bin = b.cast(b.max(below, 0.0), DType::kInt32);
    const Symbol excess = b.reshape(b.sub(confidence, b.reshape(right, {count})), {count, 1});
    return {b.reduce_sum(b.mul(one_hot(b, bin, p_.bins), excess), {0}),
            b.constant(static_cast<double>(count)), std::make_shared<const CalibrationAccumulation>()};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, CalibrationError, "CalibrationError");

}  // namespace
}  // namespace tpack
