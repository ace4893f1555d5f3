#include "costs/policy.h"

namespace tpack {
namespace {

struct ClippedPolicyGradientParams : SampleCostParams, PolicyFields {
  Ref<LayerOutput> log_probabilities;
  double clip = 0.2;
};

/// A logarithm: above this, the float would be infinite, and the gradient of a clipped sample NaN.
constexpr double kMaxChange = 80;

/// -min(r * advantage, clamp(r, 1 - clip, 1 + clip) * advantage), r = min(p / q, e^80), where p is the
/// probability of the action now and q when the action was chosen. Shapes: logits [N, actions], the others
/// [N] -> losses [N]. Source: Schulman et al. 2017, Proximal Policy Optimization Algorithms, equation 7.
class ClippedPolicyGradient final : public Cost {
 public:
  using Params = ClippedPolicyGradientParams;
  static Schema<Params> schema() {
    return with_weights(
        with_policy_fields(
            Schema<Params>("Makes actions that were better than expected more likely, within limits for one "
                           "round of samples (PPO).")
                .example("ClippedPolicyGradient: {logits: policy, actions: action, advantages: advantage, "
                         "log_probabilities: log_probability, clip: 0.1}"))
            .field("log_probabilities", &Params::log_probabilities,
                   "log probabilities of the actions when they were chosen [N]")
            .required()
            .field("clip", &Params::clip, above(0),
                   "largest relative change of a probability; beyond it, a sample has no effect"));
  }
  explicit ClippedPolicyGradient(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  SampleLosses losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol now = log_probabilities(model, p_);
    const Symbol advantage = constants_like(model, p_.advantages, now);
    const Symbol change = b.sub(now, constants_like(model, p_.log_probabilities, now));
    // Not `min`, whose gradient at NaN is 0: the step would not be skipped.
    const Symbol ratio = b.exp(b.select(b.greater(change, kMaxChange), kMaxChange, change));
    const Symbol near = b.min(b.max(ratio, 1 - p_.clip), 1 + p_.clip);
    return b.neg(b.min(b.mul(ratio, advantage), b.mul(near, advantage)));
  }

  Params p_;
};

TPACK_REGISTER(Cost, ClippedPolicyGradient, "ClippedPolicyGradient");

}  // namespace
}  // namespace tpack
