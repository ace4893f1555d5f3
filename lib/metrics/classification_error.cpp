#include "model/cost.h"
#include "ops/in_top_k.h"

namespace tpack {
namespace {

struct ClassificationErrorParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  int64_t k = 1;
};

/// Shapes: logits [N, C], labels int32 [N] -> (misses, N). Source: tensorpack callbacks/inference.py,
/// ClassificationError.
class ClassificationError final : public Metric {
 public:
  using Params = ClassificationErrorParams;
  static Schema<Params> schema() {
    return Schema<Params>("Share of samples whose label is not among the k best scores: 1 - InTopK.")
        .example("ClassificationError: {logits: logits, labels: label}")
        .field("logits", &Params::logits, "scores [N, classes], or [N, classes, height, width] for pixels")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N], or [N, height, width] for pixels")
        .required()
        .field("k", &Params::k, at_least(1), "number of best scores");
  }
  explicit ClassificationError(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "classification_error", p_.logits.position);
    const Symbol scores = model.scores_of_classes(p_.logits, p_.labels);
    const Symbol hits = in_top_k(b, scores, model.class_numbers(p_.labels, scores), p_.k);
    return sum_and_count(b, b.sub(1.0, hits));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, ClassificationError, "ClassificationError");

}  // namespace
}  // namespace tpack
