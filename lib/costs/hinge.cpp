#include "costs/binary_prediction.h"
#include "costs/loss.h"

namespace tpack {
namespace {

struct HingeParams : BinaryFields {};

/// max(0, 1 - s x), where s is 1 of a yes and -1 of a no. Shapes: logits x [N, ...], labels of the same shape
/// (or a number for all) -> losses [N, ...]. Source: Cortes and Vapnik 1995; scikit-learn's hinge_loss.
class Hinge final : public Loss {
 public:
  using Params = HingeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "A yes or no for each output, with a margin: a score costs nothing from 1 on for a yes, and "
               "from -1 down for a no (a support vector machine).")
        .example("Hinge: {logits: logits, labels: 1}")
        .field("logits", static_cast<Ref<LayerOutput> Params::*>(&Params::logits), "scores [N, ...]")
        .required()
        .field("labels", static_cast<NumberOrOutput Params::*>(&Params::labels),
               "an output of the logits' size, or a number for all; yes above 0.5, no else")
        .required();
  }
  explicit Hinge(Params p) : p_(std::move(p)) { check_labels(p_, "Hinge"); }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol given = model.output(p_.logits);
    if (b.meaning(given).has_range())
      throw ConfigError(p_.logits.position, "'logits' of " + kind + " Hinge: '" + p_.logits.name +
                                                "' are probabilities, and scores of no are below 0; name the "
                                                "output before the sigmoid or softmax");
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
