#include "ops/softmax_cross_entropy.h"

#include "costs/class_losses.h"
#include "costs/label_range.h"

namespace tpack {
namespace {

/// Shapes: logits [N, C], labels int32 [N] or probabilities [N, C] -> losses [N]. With probabilities p,
/// sum_c w_c ((1 - s) p_c + s / C) loss_c for weights w of classes and smoothing s, as PyTorch does.
class SoftmaxCrossEntropyLoss final : public Loss {
 public:
  using Params = ClassificationParams;
  static Schema<Params> schema() {
    return classification_schema(
               "Classification into one of several classes: mean cross entropy of integer labels under the "
               "softmax of logits; or of soft labels, probabilities of all classes [N, classes], such as "
               "from MixUp, CutMix and OneHot.")
        .example("SoftmaxCrossEntropy: {logits: logits, labels: label, label_smoothing: 0.1}");
  }
  explicit SoftmaxCrossEntropyLoss(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol scores = model.class_scores(p_.logits, kind + " SoftmaxCrossEntropy");
    if (const Symbol soft = model.soft_labels(p_.labels, scores)) return of_soft(model, scores, soft);
    const Classification of = classification(model, p_, kind + " SoftmaxCrossEntropy");
    const Symbol of_label = b.emit<SoftmaxCrossEntropy>({}, {of.logits, of.labels}).out();
    return weighted_losses(model, p_, of, {of_label, [&] { return b.neg(log_softmax(b, of.logits)); }});
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return class_target(model, p_);
  }

 private:
  Symbol of_soft(const ModelView& model, const Symbol& scores, const Symbol& labels) const {
    if (p_.ignore_label)
      throw ConfigError(p_.labels.position,
                        "'ignore_label' applies only to class numbers, but '" + p_.labels.name +
                            "' has the probabilities of all classes; to ignore samples, use sample_weights");
    Builder& b = model.builder();
    Symbol targets = labels;
    if (p_.label_smoothing > 0)
      targets = b.add(b.mul(targets, 1 - p_.label_smoothing),
                      p_.label_smoothing / static_cast<double>(labels.shape()[1]));
    if (p_.class_weights.given())
      targets = b.mul(targets, class_weights(model, p_.class_weights, p_.labels, labels.shape()[1]));
    const Symbol losses = b.neg(b.reduce_sum(b.mul(targets, log_softmax(b, b.to_float(scores))), {1}));
    return b.add(losses, nan_unless_distribution(b, labels));
  }

  Params p_;
};

TPACK_REGISTER(Loss, SoftmaxCrossEntropyLoss, "SoftmaxCrossEntropy");

}  // namespace
}  // namespace tpack
