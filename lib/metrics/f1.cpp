#include "metrics/class_ratio.h"

namespace tpack {
namespace {

struct F1Params : ClassRatioFields {
  F1Params() { average = ClassAverage::kMacro; }
};

/// 2 right / (predicted + actual) of each class. Among equal scores, the first class is predicted; if a score
/// is not finite, none. Shapes: logits [N, C], labels int32 [N] -> ([3, C], N); for binary labels, logits [N,
/// ...], labels of the same shape (or a number for all) -> ([3, 1], N). Source: scikit-learn's f1_score with
/// zero_division=0.
class F1 final : public Metric {
 public:
  using Params = F1Params;
  static Schema<Params> schema() {
    return with_class_ratio(
               Schema<Params>(
                   "Harmonic mean of precision and recall, for samples of one of several classes, or, with "
                   "average: binary, for binary labels. It is exact over all samples, for any batches."))
        .example("F1: {logits: logits, labels: label}");
  }
  explicit F1(Params p) : p_(std::move(p)) { check_class_ratio(p_, Params().average, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    const Builder::NameScope scope(model.builder(), "f1", p_.logits.position);
    return class_ratio(model, p_, {.of_predicted = 1, .of_actual = 1}, kOwner);
  }

 private:
  static constexpr const char* kOwner = "metric F1";
  Params p_;
};

TPACK_REGISTER(Metric, F1, "F1", "Dice");

}  // namespace
}  // namespace tpack
