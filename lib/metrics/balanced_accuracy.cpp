#include <limits>

#include "costs/confusion.h"

namespace tpack {
namespace {

class BalancedAccuracyAccumulation final : public Accumulation {
 public:
  double value(std::span<const double> parts) const override {
    const ConfusionTotal total(parts);
    double sum = 0;
    double classes = 0;
    for (size_t c = 0; c < total.classes(); ++c) {
      if (total.actual(c) == 0) continue;
      sum += total.right(c) / total.actual(c);
      ++classes;
    }
    return classes == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / classes;
  }
};

struct BalancedAccuracyParams : ClassAnswerFields {};

/// The mean of right / actual over the classes with samples. Among equal scores, the first class is
/// predicted; if a score is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N). Source:
/// scikit-learn's balanced_accuracy_score.
class BalancedAccuracy final : public Metric {
 public:
  using Params = BalancedAccuracyParams;
  static Schema<Params> schema() {
    return with_class_answers(
               Schema<Params>("Accuracy with equal weight for all classes, regardless of their number of "
                              "samples: the mean of their recalls, exact over all samples."))
        .example("BalancedAccuracy: {logits: logits, labels: label}");
  }
  explicit BalancedAccuracy(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "balanced_accuracy", p_.logits.position);
    const ClassAnswers answers = class_answers(model, p_);
    return {confusion_sums(b, answers), answers.samples,
            std::make_shared<const BalancedAccuracyAccumulation>()};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, BalancedAccuracy, "BalancedAccuracy");

}  // namespace
}  // namespace tpack
