#include "costs/binary_prediction.h"
#include "costs/loss.h"

namespace tpack {
namespace {

struct HingeParams : BinaryFields {};

/// max(0, 1 - s x), where s is 1 for positive and -1 for negative labels. Shapes: logits x [N, ...], labels
/// of the same shape (or a number for all) -> losses [N, ...]. Source: Cortes and Vapnik 1995; scikit-learn's
/// hinge_loss.
class Hinge final : public Loss {
 public:
  using Params = HingeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Binary labels with a margin (a support vector machine): positive samples cost nothing with a "
               "score of at least 1, negative ones with at most -1.")
        .example("Hinge: {logits: logits, labels: 1}")
        .field("logits", static_cast<Ref<LayerOutput> Params::*>(&Params::logits), "scores [N, ...]")
        .required()
        .field("labels", static_cast<NumberOrOutput Params::*>(&Params::labels),
               "an output of the logits' size, or a number for all; above 0.5 means positive")
        .required();
  }
  explicit Hinge(Params p) : p_(std::move(p)) { check_labels(p_, "Hinge"); }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol given = model.output(p_.logits);
    if (b.meaning(given).has_range())
      throw ConfigError(p_.logits.position, "'logits' of " + kind + " Hinge: '" + p_.logits.name +
                                                "' are probabilities, but scores of negative labels must be "
                                                "below 0; name the output before the sigmoid or softmax");
    const Symbol x = b.to_float(given);
    const Builder::Operand labels = model.like(p_.labels, x);
    const Builder::Operand sign = labels.symbol ? b.select(b.greater(labels, 0.5), 1.0, -1.0)
                                                : Builder::Operand(labels.value > 0.5 ? 1.0 : -1.0);
    return b.max(b.sub(1.0, b.mul(x, sign)), 0.0);
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return binary_target(model, p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, Hinge, "Hinge");

}  // namespace
}  // namespace tpack
