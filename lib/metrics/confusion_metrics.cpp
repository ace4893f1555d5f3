// Metrics of one of several classes, computed from the counts of each class, a row each.
#include <cmath>
#include <limits>
#include <memory>

#include "costs/confusion.h"

namespace tpack {
namespace {

struct ConfusionRow {
  const char* scope;
  const char* summary;
  const char* example;
  double (*of)(const ConfusionTotal& total);
};

class ConfusionAccumulation final : public Accumulation {
 public:
  explicit ConfusionAccumulation(const ConfusionRow& row) : row_(row) {}
  double value(std::span<const double> parts) const override { return row_.of(ConfusionTotal(parts)); }

 private:
  const ConfusionRow& row_;
};

/// Among equal scores, the first class is predicted; if a score is not finite, none. Shapes: logits
/// [N, C], labels int32 [N] -> ([3, C], N).
template <const ConfusionRow& kRow>
class ConfusionMetric final : public Metric {
 public:
  struct Params : ClassAnswerFields {};
  static Schema<Params> schema() {
    return with_class_answers(Schema<Params>(kRow.summary)).example(kRow.example);
  }
  explicit ConfusionMetric(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kRow.scope, p_.logits.position);
    const ClassAnswers answers = class_answers(model, p_);
    return {confusion_sums(b, answers), answers.samples, std::make_shared<const ConfusionAccumulation>(kRow)};
  }

 private:
  Params p_;
};

/// The mean of right / actual over the classes with samples.
double balanced_accuracy(const ConfusionTotal& total) {
  double sum = 0;
  double classes = 0;
  for (size_t c = 0; c < total.classes(); ++c) {
    if (total.actual(c) == 0) continue;
    sum += total.right(c) / total.actual(c);
    ++classes;
  }
  return classes == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / classes;
}

/// With s samples, r of them right, p_k predicted as class k and t_k actually of class k:
/// (r s - sum p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)).
double matthews_correlation(const ConfusionTotal& total) {
  const double samples = total.samples();
  if (samples == 0) return std::numeric_limits<double>::quiet_NaN();
  // Samples without a prediction, or without a class, form an additional class, in which none is right.
  const double unpredicted = samples - total.all_predicted();
  const double of_none = samples - total.all_actual();
  double predicted = samples * samples - unpredicted * unpredicted;
  double actual = samples * samples - of_none * of_none;
  for (size_t c = 0; c < total.classes(); ++c) {
    predicted -= total.predicted(c) * total.predicted(c);
    actual -= total.actual(c) * total.actual(c);
  }
  const double both = samples * total.all_right() - total.equal_pairs();
  return predicted == 0 || actual == 0 ? 0 : both / (std::sqrt(predicted) * std::sqrt(actual));
}

constexpr ConfusionRow kBalancedAccuracy{
    .scope = "balanced_accuracy",
    .summary =
        "Accuracy with equal weight for all classes, regardless of their number of samples: the mean of "
        "their recalls, exact over all samples.",
    .example = "BalancedAccuracy: {logits: logits, labels: label}",
    .of = balanced_accuracy};
/// The mean of right / actual over the classes with samples. Among equal scores, the first class is
/// predicted; if a score is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N). Source:
/// scikit-learn's balanced_accuracy_score.
using BalancedAccuracy = ConfusionMetric<kBalancedAccuracy>;
TPACK_REGISTER(Metric, BalancedAccuracy, "BalancedAccuracy");

constexpr ConfusionRow kMatthewsCorrelation{
    .scope = "matthews_correlation",
    .summary =
        "Correlation of predicted and actual classes, also for very unequal classes: 1 is perfect, 0 is as "
        "good as chance, exact over all samples. 0 if all predictions, or all labels, are one class.",
    .example = "MatthewsCorrelation: {logits: logits, labels: label}",
    .of = matthews_correlation};
/// With s samples, r of them right, p_k predicted as class k and t_k actually of class k: (r s - sum p_k t_k)
/// / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)). Among equal scores, the first class is predicted; if a score
/// is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N). Source: Gorodkin 2004;
/// scikit-learn's matthews_corrcoef.
using MatthewsCorrelation = ConfusionMetric<kMatthewsCorrelation>;
TPACK_REGISTER(Metric, MatthewsCorrelation, "MatthewsCorrelation");

}  // namespace
}  // namespace tpack
