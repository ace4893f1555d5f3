#include "costs/binary_prediction.h"

namespace tpack {
namespace {

struct ExactMatchParams : BinaryPredictionFields {};

/// A sample is right if all of its labels are. Shapes: logits [N, ...], labels of the same shape (or a number
/// for all) -> (right samples, samples with a label that counts). Source: scikit-learn, accuracy_score of
/// multi-label targets (subset accuracy).
class ExactMatch final : public Metric {
 public:
  using Params = ExactMatchParams;
  static Schema<Params> schema() {
    return with_binary_prediction(
               Schema<Params>("Share of samples with all labels predicted right: the strict metric for "
                              "several binary labels per sample; MultiLabelAccuracy counts each label."))
        .example("ExactMatch: {logits: logits, labels: tags}");
  }
  explicit ExactMatch(Params p) : p_(std::move(p)) { check_binary_prediction(p_, kOwner); }

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "exact_match", p_.logits.position);
    const BinaryPrediction answers = binary_prediction(model, p_, kOwner);
    const int64_t samples = answers.given.shape()[0];
    const auto by_sample = [&](Symbol x) { return b.reshape(x, {samples, x.shape().elements() / samples}); };
    // A label that does not count is 0 on both sides.
    const Symbol wrong = b.sub(1.0, b.to_float(b.equal(answers.given, answers.expected)));
    const Symbol is_right = b.sub(1.0, b.reduce_max(by_sample(wrong), {1}));
    if (!answers.counts) return sum_and_count(b, is_right);
    const Symbol counts = b.reduce_max(by_sample(answers.counts), {1});
    return {b.reduce_sum(b.mul(is_right, counts)), b.reduce_sum(counts)};
  }

 private:
  static constexpr const char* kOwner = "metric ExactMatch";
  Params p_;
};

TPACK_REGISTER(Metric, ExactMatch, "ExactMatch", "SubsetAccuracy");

}  // namespace
}  // namespace tpack
