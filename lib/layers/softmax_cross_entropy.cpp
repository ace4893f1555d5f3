#include "ops/softmax_cross_entropy.h"

#include "layers/loss.h"

namespace tpack {
namespace {

struct SoftmaxCrossEntropyParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

/// Shapes: logits [N, C], labels int32 [N] -> losses [N].
class SoftmaxCrossEntropyLoss final : public Loss {
 public:
  using Params = SoftmaxCrossEntropyParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Classification into one of several classes: mean cross entropy of integer labels under the "
               "softmax of logits.")
        .example("SoftmaxCrossEntropy: {logits: logits, labels: label}")
        .field("logits", &Params::logits, "scores [N, classes]")
        .required()
        .field("labels", &Params::labels, "class numbers, int32 [N]")
        .required();
  }
  explicit SoftmaxCrossEntropyLoss(Params p) : p_(std::move(p)) {}

  Symbol losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol logits = model.class_scores(p_.logits, kind + " SoftmaxCrossEntropy");
    return b.emit<SoftmaxCrossEntropy>({}, {logits, model.class_numbers(p_.labels, logits)}).out();
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, SoftmaxCrossEntropyLoss, "SoftmaxCrossEntropy");

}  // namespace
}  // namespace tpack
