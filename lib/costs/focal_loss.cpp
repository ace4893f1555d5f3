#include "costs/class_losses.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

struct FocalLossParams : ClassificationParams {
  double gamma = 2;
};

/// -(1 - p)^gamma log p of the probability p of the label under the softmax of logits. Shapes: logits [N, C],
/// labels int32 [N] -> losses [N]. Source: Lin et al. 2017, "Focal Loss for Dense Object Detection".
class FocalLoss final : public Loss {
 public:
  using Params = FocalLossParams;
  static Schema<Params> schema() {
    return classification_schema(
               "Classification into one of several classes, with less weight for samples that are already "
               "classified well: mean of -(1 - p)^gamma log p, p the probability of the label under the "
               "softmax of logits.")
        .as<Params>()
        .example("FocalLoss: {logits: logits, labels: label, gamma: 1.5}")
        .field("gamma", &Params::gamma, at_least(0),
               "strength of the reduced weight of well classified samples; 0: the cross entropy");
  }
  explicit FocalLoss(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Classification of = classification(model, p_, kind + " FocalLoss");
    const Symbol of_label = focal(b, b.emit<SoftmaxCrossEntropy>({}, {of.logits, of.labels}).out());
    return weighted_losses(model, p_, of,
                           {of_label, [&] { return focal(b, b.neg(log_softmax(b, of.logits))); }});
  }
  std::optional<PredictionTarget> target(const ModelView& model) const override {
    return class_target(model, p_);
  }

 private:
  Symbol focal(Builder& b, Symbol minus_log_p) const {
    const Symbol others = b.neg(b.expm1(b.neg(minus_log_p)));  // 1 - p, exact if p is near 1
    // A power below 1 has no gradient at 0.
    constexpr double kLeast = 1e-30;
    return b.mul(b.pow(b.max(others, kLeast), p_.gamma), minus_log_p);
  }

  Params p_;
};

TPACK_REGISTER(Loss, FocalLoss, "FocalLoss");

}  // namespace
}  // namespace tpack
