#include "costs/confusion.h"
#include "ops/in_top_k.h"

namespace tpack {
namespace {

struct AccuracyParams : ClassAnswerFields {};

/// Shapes: logits [N, C], labels int32 [N] -> (correct, N). A label that only ties for the best
/// score is wrong.
class Accuracy final : public Metric {
 public:
  using Params = AccuracyParams;
  static Schema<Params> schema() {
    return with_class_answers(
               Schema<Params>("Share of samples, or of pixels, whose label has the best score."))
        .example("Accuracy: {logits: logits, labels: label}");
  }
  explicit Accuracy(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "accuracy", p_.logits.position);
    const Symbol scores = model.scores_of_classes(p_.logits, p_.labels);
    const Symbol labels = model.class_numbers(p_.labels, scores);
    const Symbol hits = in_top_k(b, scores, labels, 1);
    if (!p_.ignore_label) return sum_and_count(b, hits);
    const Symbol counts = counts_of(b, labels, *p_.ignore_label);
    return {b.reduce_sum(b.mul(hits, counts)), b.reduce_sum(counts)};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, Accuracy, "Accuracy");

}  // namespace
}  // namespace tpack
