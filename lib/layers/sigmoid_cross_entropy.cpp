#include "layers/binary_prediction.h"
#include "layers/label_range.h"

namespace tpack {
namespace {

struct SigmoidCrossEntropyParams : SampleCostParams, BinaryFields {};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> losses of the same shape.
/// -label * log(sigmoid(x)) - (1 - label) * log(sigmoid(-x)): terms of one sign, so small losses are exact.
/// NaN for a label that is not from 0 to 1, where the loss has no lower bound.
class SigmoidCrossEntropy final : public Cost {
 public:
  using Params = SigmoidCrossEntropyParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>(
            "A yes or no for each output (one class, several labels, real or fake): the mean cross "
            "entropy between labels from 0 to 1 and the sigmoid of the logits.")
            .example("SigmoidCrossEntropy: {logits: logits, labels: 1}")
            .field("logits", static_cast<Ref<LayerOutput> Params::*>(&Params::logits), "scores [N, ...]")
            .required()
            .field("labels", static_cast<NumberOrOutput Params::*>(&Params::labels),
                   "probabilities of yes: an output of the logits' size, or a number for all")
            .required());
  }
  explicit SigmoidCrossEntropy(Params p) : Cost(p), p_(std::move(p)) { check_labels(p_, kOwner); }

 private:
  Symbol losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol x = logits_of(model, p_, kOwner);
    const Builder::Operand label = model.like(p_.labels, x);
    if (!label.symbol && label.value == 1) return b.softplus(b.neg(x));
    if (!label.symbol && label.value == 0) return b.softplus(x);
    const Symbol losses = b.add(b.mul(label, b.softplus(b.neg(x))), b.mul(b.sub(1.0, label), b.softplus(x)));
    return label.symbol ? b.add(losses, nan_outside_of_0_to_1(b, label.symbol)) : losses;
  }

  static constexpr const char* kOwner = "cost SigmoidCrossEntropy";
  Params p_;
};

TPACK_REGISTER(Cost, SigmoidCrossEntropy, "SigmoidCrossEntropy");

}  // namespace
}  // namespace tpack
