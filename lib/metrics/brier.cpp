#include "metrics/probabilities.h"

namespace tpack {
namespace {

struct BrierParams : ProbabilityFields {};

/// (p - y)^2 of each output, where y is 1 for positive and 0 for negative labels; for classes, the sum over
/// them. Shapes: logits [N, ...], labels of their size -> (sum, number of elements); logits [N, C], labels
/// int32 [N] -> (sum, N). Source: Brier 1950; scikit-learn's brier_score_loss, unscaled for classes.
class Brier final : public Metric {
 public:
  using Params = BrierParams;
  static Schema<Params> schema() {
    return with_probabilities(Schema<Params>("Mean squared difference of probabilities and labels: from 0 to "
                                             "1 for binary labels, from 0 to 2 for classes."))
        .example("Brier: {logits: logits, labels: label}");
  }
  explicit Brier(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMin; }
  std::string form() const override {
    return "0 to 1 for binary labels; 0 to 2 for class numbers, summed over all classes";
  }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "brier", p_.logits.position);
    const auto [probabilities, facts, are_classes] = probabilities_and_facts(model, p_);
    const Symbol squares = b.square(b.sub(probabilities, facts));
    return sum_and_count(b, are_classes ? b.reduce_sum(squares, {1}) : squares);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, Brier, "Brier");

}  // namespace
}  // namespace tpack
