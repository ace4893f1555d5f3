#include "costs/binary_prediction.h"

namespace tpack {
namespace {

struct MultiLabelAccuracyParams : BinaryPredictionFields {};

/// A logit is positive if its sigmoid is above the threshold, a label if it is above 1/2. Shapes: logits [N,
/// ...], labels of the same shape (or a number for all) -> (equal answers, number of elements that count).
class MultiLabelAccuracy final : public Metric {
 public:
  using Params = MultiLabelAccuracyParams;
  static Schema<Params> schema() {
    return with_binary_prediction(Schema<Params>("Share of right predictions among all binary labels of all "
                                                 "samples; the metric for SigmoidCrossEntropy."))
        .example("MultiLabelAccuracy: {logits: logits, labels: tags}");
  }
  explicit MultiLabelAccuracy(Params p) : p_(std::move(p)) { check_binary_prediction(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "multi_label_accuracy", p_.logits.position);
    const BinaryPrediction answers = binary_prediction(model, p_, kOwner);
    const Symbol right = b.to_float(b.equal(answers.given, answers.expected));
    if (!answers.counts) return sum_and_count(b, right);
    return {b.reduce_sum(b.mul(right, answers.counts)), b.reduce_sum(answers.counts)};
  }

 private:
  static constexpr const char* kOwner = "metric MultiLabelAccuracy";
  Params p_;
};

TPACK_REGISTER(Metric, MultiLabelAccuracy, "MultiLabelAccuracy");

}  // namespace
}  // namespace tpack
