#include "ops/softmax_cross_entropy.h"

#include "layers/class_losses.h"

namespace tpack {
namespace {

/// Shapes: logits [N, C], labels int32 [N] -> losses [N].
class SoftmaxCrossEntropyLoss final : public Loss {
 public:
  using Params = ClassificationParams;
  static Schema<Params> schema() {
    return classification_schema(
               "Classification into one of several classes: mean cross entropy of integer labels under the "
               "softmax of logits.")
        .example("SoftmaxCrossEntropy: {logits: logits, labels: label, label_smoothing: 0.1}");
  }
  explicit SoftmaxCrossEntropyLoss(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Classification of = classification(model, p_, kind + " SoftmaxCrossEntropy");
    const Symbol of_label = b.emit<SoftmaxCrossEntropy>({}, {of.logits, of.labels}).out();
    return weighted_losses(model, p_, of,
                           {of_label, [&] { return b.neg(b.reduce_mean(log_softmax(b, of.logits), {1})); }});
  }
  std::optional<Judgement> judgement(const ModelView& model) const override {
    return class_judgement(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, SoftmaxCrossEntropyLoss, "SoftmaxCrossEntropy");

}  // namespace
}  // namespace tpack
