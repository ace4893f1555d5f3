#include "layers/binary_prediction.h"
#include "layers/label_range.h"
#include "layers/loss.h"

namespace tpack {
namespace {

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> losses of the same shape.
/// -label * log(sigmoid(x)) - (1 - label) * log(sigmoid(-x)): terms of one sign, so small losses are exact.
/// NaN for a label that is not from 0 to 1, where the loss has no lower bound.
class SigmoidCrossEntropyLoss final : public Loss {
 public:
  using Params = BinaryFields;
  static Schema<Params> schema() {
    return Schema<Params>(
               "A yes or no for each output (one class, several labels, real or fake): the mean cross "
               "entropy between labels from 0 to 1 and the sigmoid of the logits.")
        .example("SigmoidCrossEntropy: {logits: logits, labels: 1}")
        .field("logits", &Params::logits, "scores [N, ...]")
        .required()
        .field("labels", &Params::labels,
               "probabilities of yes: an output of the logits' size, or a number for all")
        .required();
  }
  explicit SigmoidCrossEntropyLoss(Params p) : p_(std::move(p)) {}

  Symbol losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const std::string owner = kind + " SigmoidCrossEntropy";
    check_labels(p_, owner);
    const Symbol x = logits_of(model, p_, owner);
    const Builder::Operand label = model.like(p_.labels, x);
    if (!label.symbol && label.value == 1) return b.softplus(b.neg(x));
    if (!label.symbol && label.value == 0) return b.softplus(x);
    const Symbol losses = b.add(b.mul(label, b.softplus(b.neg(x))), b.mul(b.sub(1.0, label), b.softplus(x)));
    return label.symbol ? b.add(losses, nan_outside_of_0_to_1(b, label.symbol)) : losses;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, SigmoidCrossEntropyLoss, "SigmoidCrossEntropy");

}  // namespace
}  // namespace tpack
