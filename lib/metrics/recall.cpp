#include "metrics/class_ratio.h"

namespace tpack {
namespace {

struct RecallParams : ClassRatioFields {};

/// right / actual. For binary labels, these are positive labels. For classes, among equal scores the first
/// class is predicted; if a score is not finite, none. Shapes: logits [N, ...], labels of the same shape (or
/// a number for all) -> (right positives, actual positives); logits [N, C], labels int32 [N] -> ([3, C], N).
/// Source: tensorpack callbacks/inference.py, BinaryClassificationStats; for classes, scikit-learn's
/// recall_score with zero_division=0.
class Recall final : public Metric {
 public:
  using Params = RecallParams;
  static Schema<Params> schema() {
    return with_class_ratio(
               Schema<Params>(
                   "Share of positive labels that are predicted positive, or of samples of a class that are "
                   "predicted as it; 0 if there are none. It is exact over all samples, for any batches."))
        .example("Recall: {logits: logits, labels: tags}");
  }
  explicit Recall(Params p) : p_(std::move(p)) { check_class_ratio(p_, Params().average, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "recall", p_.logits.position);
    if (!p_.is_binary()) return class_ratio(model, p_, {.of_actual = 1}, kOwner);
    const BinaryPrediction answers = binary_answers(model, p_, kOwner);
    const Symbol right = b.mul(answers.given, answers.expected);
    return {b.reduce_sum(right), b.reduce_sum(b.mul(b.constant(1, answers.given.shape()), answers.expected)),
            share()};
  }

 private:
  static constexpr const char* kOwner = "metric Recall";
  Params p_;
};

TPACK_REGISTER(Metric, Recall, "Recall");

}  // namespace
}  // namespace tpack
