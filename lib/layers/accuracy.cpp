#include "layers/cost.h"
#include "ops/in_top_k.h"

namespace tpack {
namespace {

struct AccuracyParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

/// Shapes: logits [N, C], labels int32 [N] -> (correct, N). A label that only ties for the best
/// score is wrong.
class Accuracy final : public Metric {
 public:
  using Params = AccuracyParams;
  static Schema<Params> schema() {
    return Schema<Params>("Share of samples whose label has the best score.")
        .example("Accuracy: {logits: logits, labels: label}")
        .field("logits", &Params::logits, "scores [N, classes]")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N]")
        .required();
  }
  explicit Accuracy(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "accuracy", p_.logits.position);
    const Symbol scores = model.output(p_.logits);
    const Symbol hits = in_top_k(b, scores, model.class_numbers(p_.labels, scores), 1);
    return sum_and_count(b, hits);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, Accuracy, "Accuracy");

}  // namespace
}  // namespace tpack
