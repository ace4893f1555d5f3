#include <cmath>
#include <limits>

#include "costs/confusion.h"

namespace tpack {
namespace {

class MatthewsAccumulation final : public Accumulation {
 public:
  double value(std::span<const double> parts) const override {
    const ConfusionTotal total(parts);
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
};

struct MatthewsCorrelationParams : ClassAnswerFields {};

/// With s samples, r of them right, p_k predicted as class k and t_k actually of class k: (r s - sum p_k t_k)
/// / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)). Among equal scores, the first class is predicted; if a score
/// is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N). Source: Gorodkin 2004;
/// scikit-learn's matthews_corrcoef.
class MatthewsCorrelation final : public Metric {
 public:
  using Params = MatthewsCorrelationParams;
  static Schema<Params> schema() {
    return with_class_answers(
               Schema<Params>("Correlation of predicted and actual classes, also for very unequal classes: 1 "
                              "is perfect, 0 is as good as chance, exact over all samples. 0 if all "
                              "predictions, or all labels, are one class."))
        .example("MatthewsCorrelation: {logits: logits, labels: label}");
  }
  explicit MatthewsCorrelation(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "matthews_correlation", p_.logits.position);
    const ClassAnswers answers = class_answers(model, p_);
    return {confusion_sums(b, answers), answers.samples, std::make_shared<const MatthewsAccumulation>()};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, MatthewsCorrelation, "MatthewsCorrelation");

}  // namespace
}  // namespace tpack
