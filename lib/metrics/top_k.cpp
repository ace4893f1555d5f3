#include "model/cost.h"
#include "ops/in_top_k.h"

namespace tpack {
namespace {

/// Whether a label is among the best scores, or is not.
struct TopKRow {
  const char* scope;
  Goal goal;
  int64_t k;  // by default
  const char* summary;
  const char* example;
};

template <const TopKRow& kRow>
class TopKMetric final : public Metric {
 public:
  struct Params {
    Ref<LayerOutput> logits;
    Ref<LayerOutput> labels;
    int64_t k = kRow.k;
  };
  static Schema<Params> schema() {
    return Schema<Params>(kRow.summary)
        .example(kRow.example)
        .field("logits", &Params::logits, "scores [N, classes], or [N, classes, height, width] for pixels")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N], or [N, height, width] for pixels")
        .required()
        .field("k", &Params::k, at_least(1), "number of best scores");
  }
  explicit TopKMetric(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return kRow.goal; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kRow.scope, p_.logits.position);
    const Symbol scores = model.scores_of_classes(p_.logits, p_.labels);
    const Symbol hits = in_top_k(b, scores, model.class_numbers(p_.labels, scores), p_.k);
    return sum_and_count(b, kRow.goal == Goal::kMax ? hits : b.sub(1.0, hits));
  }

 private:
  Params p_;
};

constexpr TopKRow kInTopK{"in_top_k", Goal::kMax, 5,
                          "Share of samples whose label is among the k best scores.",
                          "InTopK: {logits: logits, labels: label, k: 3}"};
/// Shapes: logits [N, C], labels int32 [N] -> (hits, N).
using InTopKMetric = TopKMetric<kInTopK>;
TPACK_REGISTER(Metric, InTopKMetric, "InTopK");

constexpr TopKRow kClassificationError{
    "classification_error", Goal::kMin, 1,
    "Share of samples whose label is not among the k best scores: 1 - InTopK.",
    "ClassificationError: {logits: logits, labels: label}"};
/// Shapes: logits [N, C], labels int32 [N] -> (misses, N). Source: tensorpack callbacks/inference.py,
/// ClassificationError.
using ClassificationError = TopKMetric<kClassificationError>;
TPACK_REGISTER(Metric, ClassificationError, "ClassificationError");

}  // namespace
}  // namespace tpack
