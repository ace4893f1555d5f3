#include "ops/in_top_k.h"

#include "model/cost.h"

namespace tpack {
namespace {

struct InTopKMetricParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
  int64_t k = 5;
};

/// Shapes: logits [N, C], labels int32 [N] -> (hits, N).
class InTopKMetric final : public Metric {
 public:
  using Params = InTopKMetricParams;
  static Schema<Params> schema() {
    return Schema<Params>("Share of samples whose label is among the k best scores.")
        .example("InTopK: {logits: logits, labels: label, k: 3}")
        .field("logits", &Params::logits, "scores [N, classes], or [N, classes, height, width] for pixels")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N], or [N, height, width] for pixels")
        .required()
        .field("k", &Params::k, at_least(1), "number of best scores");
  }
  explicit InTopKMetric(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "in_top_k", p_.logits.position);
    const Symbol scores = model.scores_of_classes(p_.logits, p_.labels);
    const Symbol hits = in_top_k(b, scores, model.class_numbers(p_.labels, scores), p_.k);
    return sum_and_count(b, hits);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, InTopKMetric, "InTopK");

}  // namespace
}  // namespace tpack
