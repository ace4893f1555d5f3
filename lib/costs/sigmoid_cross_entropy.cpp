#include "costs/binary_prediction.h"
#include "costs/label_range.h"
#include "costs/loss.h"
#include "model/number_list.h"

namespace tpack {
namespace {

struct SigmoidCrossEntropyParams : BinaryFields {
  NumberList pos_weight = {};
  double label_smoothing = 0;
  std::optional<double> ignore_label = {};
};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> losses of the same shape.
/// -label * log(sigmoid(x)) - (1 - label) * log(sigmoid(-x)): terms of one sign, so small losses are exact.
/// NaN for a label that is not from 0 to 1, where the loss has no lower bound.
class SigmoidCrossEntropyLoss final : public Loss {
 public:
  using Params = SigmoidCrossEntropyParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Binary labels for each output (one class, several labels, real or fake): the mean cross "
               "entropy between labels from 0 to 1 and the sigmoid of the logits.")
        .example("SigmoidCrossEntropy: {logits: logits, labels: 1}")
        .field("logits", static_cast<Ref<LayerOutput> Params::*>(&Params::logits), "scores [N, ...]")
        .required()
        .field("labels", static_cast<NumberOrOutput Params::*>(&Params::labels),
               "labels from 0 to 1: an output of the logits' size, or a number for all")
        .required()
        .field("pos_weight", &Params::pos_weight,
               "factor of the loss of positive labels, one number or a list with one per output; negatives / "
               "positives balances both")
        .field("label_smoothing", &Params::label_smoothing, between(0, 1),
               "moves labels towards 0.5: with 0.1, 1 becomes 0.95")
        .field("ignore_label", &Params::ignore_label,
               "elements with this label, such as -1, do not count in the mean");
  }
  explicit SigmoidCrossEntropyLoss(Params p) : p_(std::move(p)) {
    for (const double weight : p_.pos_weight.values)
      if (!(weight >= 0) || std::isinf(weight))
        throw ConfigError("'pos_weight' is " + shortest(weight) + "; must be at least 0");
  }

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const std::string owner = kind + " SigmoidCrossEntropy";
    check_labels(p_, owner);
    const Symbol x = logits_of(model, p_, owner);
    const Builder::Operand given = model.like(p_.labels, x);
    if (!given.symbol) return of_number(b, x, given.value);
    Symbol label = given.symbol;
    Symbol counts;
    if (p_.ignore_label) {
      const Symbol is_ignored = b.equal(label, *p_.ignore_label);
      label = b.select(is_ignored, 0.0, label);
      counts = b.sub(1.0, b.to_float(is_ignored));
    }
    const Symbol bad = nan_outside_of_0_to_1(b, label);
    if (p_.label_smoothing > 0) label = b.add(b.mul(label, 1 - p_.label_smoothing), p_.label_smoothing / 2);
    const Symbol yes = weighted(b, b.mul(label, b.softplus(b.neg(x))));
    const Symbol losses = b.add(b.add(yes, b.mul(b.sub(1.0, label), b.softplus(x))), bad);
    return counts ? SampleLosses(b.mul(losses, counts), counts) : SampleLosses(losses);
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    auto target = binary_target(model, p_);
    if (target) target->ignored = p_.ignore_label;
    return target;
  }

 private:
  /// One label for all.
  Symbol of_number(Builder& b, Symbol x, double label) const {
    label = label * (1 - p_.label_smoothing) + p_.label_smoothing / 2;
    if (label == 0) return b.softplus(x);
    const Symbol yes = weighted(b, b.softplus(b.neg(x)));
    return label == 1 ? yes : b.add(b.mul(yes, label), b.mul(b.softplus(x), 1 - label));
  }
  /// Errors: ConfigError if there is not one weight for each output.
  Symbol weighted(Builder& b, Symbol losses_of_yes) const {
    const auto weights = std::ssize(p_.pos_weight.values);
    if (weights == 0) return losses_of_yes;
    if (weights == 1) return b.mul(losses_of_yes, p_.pos_weight.values[0]);
    const Shape& shape = losses_of_yes.shape();
    const int64_t outputs = shape[static_cast<int>(shape.rank()) - 1];
    if (weights != outputs)
      throw ConfigError(p_.logits.position, "'pos_weight' has " + std::to_string(weights) +
                                                " weights, but '" + p_.logits.name + "' has " +
                                                std::to_string(outputs) + " outputs");
    return b.mul(losses_of_yes,
                 b.constant(Tensor::of<double>({weights}, p_.pos_weight.values).cast(b.float_type())));
  }

  Params p_;
};

TPACK_REGISTER(Loss, SigmoidCrossEntropyLoss, "SigmoidCrossEntropy");

}  // namespace
}  // namespace tpack
