#include "metrics/class_ratio.h"

namespace tpack {
namespace {

struct PrecisionParams : ClassRatioFields {};

/// right / predicted. For binary labels, these are positive predictions. For classes, among equal scores the
/// first class is predicted; if a score is not finite, none. Shapes: logits [N, ...], labels of the same
/// shape (or a number for all) -> (right positives, predicted positives); logits [N, C], labels int32 [N] ->
/// ([3, C], N). Source: tensorpack callbacks/inference.py, BinaryClassificationStats; for classes,
/// scikit-learn's precision_score with zero_division=0.
class Precision final : public Metric {
 public:
  using Params = PrecisionParams;
  static Schema<Params> schema() {
    return with_class_ratio(
               Schema<Params>(
                   "Share of positive predictions with a positive label, or of samples predicted as a class "
                   "that belong to it; 0 if there are none. It is exact over all samples, for any batches."))
        .example("Precision: {logits: logits, labels: tags}");
  }
  explicit Precision(Params p) : p_(std::move(p)) { check_class_ratio(p_, Params().average, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "precision", p_.logits.position);
    if (!p_.is_binary()) return class_ratio(model, p_, {.of_predicted = 1}, kOwner);
    const BinaryPrediction answers = binary_answers(model, p_, kOwner);
    const Symbol right = b.mul(answers.given, answers.expected);
    return {b.reduce_sum(right), b.reduce_sum(answers.given), share()};
  }

 private:
  static constexpr const char* kOwner = "metric Precision";
  Params p_;
};

TPACK_REGISTER(Metric, Precision, "Precision");

}  // namespace
}  // namespace tpack
