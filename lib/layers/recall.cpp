#include "layers/binary_prediction.h"

namespace tpack {
namespace {

struct RecallParams : BinaryPredictionFields {};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> (right yes, labels yes).
/// Source: tensorpack callbacks/inference.py, BinaryClassificationStats.
class Recall final : public Metric {
 public:
  using Params = RecallParams;
  static Schema<Params> schema() {
    return with_binary_prediction(
               Schema<Params>("Share of the labels yes whose output says yes; 0 if no label is yes."))
        .example("Recall: {logits: logits, labels: tags}");
  }
  explicit Recall(Params p) : p_(std::move(p)) { check_binary_prediction(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "recall", p_.logits.position);
    const BinaryPrediction answers = binary_prediction(model, p_, kOwner);
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
