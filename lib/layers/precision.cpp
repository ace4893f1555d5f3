#include "layers/binary_prediction.h"

namespace tpack {
namespace {

struct PrecisionParams : BinaryPredictionFields {};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> (right yes, given yes).
/// Source: tensorpack callbacks/inference.py, BinaryClassificationStats.
class Precision final : public Metric {
 public:
  using Params = PrecisionParams;
  static Schema<Params> schema() {
    return with_binary_prediction(
               Schema<Params>("Share of the outputs that say yes whose label is yes; 0 if none says yes."))
        .example("Precision: {logits: logits, labels: tags}");
  }
  explicit Precision(Params p) : p_(std::move(p)) { check_binary_prediction(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "precision", p_.logits.position);
    const BinaryPrediction answers = binary_prediction(model, p_, kOwner);
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
