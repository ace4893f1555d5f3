#include "ops/softmax_cross_entropy.h"

#include "layers/cost.h"

namespace tpack {
namespace {

struct SoftmaxCrossEntropyParams : SampleCostParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

/// Shapes: logits [N, C], labels int32 [N] -> losses [N].
class SoftmaxCrossEntropyCost final : public Cost {
 public:
  using Params = SoftmaxCrossEntropyParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>(
            "Classification into one of several classes: mean cross entropy of integer labels under the "
            "softmax of logits.")
            .example("SoftmaxCrossEntropy: {logits: logits, labels: label}")
            .field("logits", &Params::logits, "scores [N, classes]")
            .required()
            .field("labels", &Params::labels, "class numbers, int32 [N]")
            .required());
  }
  explicit SoftmaxCrossEntropyCost(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  Symbol losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol logits = model.class_scores(p_.logits, "cost SoftmaxCrossEntropy");
    return b.emit<SoftmaxCrossEntropy>({}, {logits, model.class_numbers(p_.labels, logits)}).out();
  }

  Params p_;
};

TPACK_REGISTER(Cost, SoftmaxCrossEntropyCost, "SoftmaxCrossEntropy");

}  // namespace
}  // namespace tpack
