#include "costs/policy.h"

namespace tpack {
namespace {

struct PolicyGradientParams : SampleCostParams, PolicyFields {
  Ref<LayerOutput> log_probabilities;
  double limit = 10;
};

/// -advantage * min(p / q, limit) * log p, where p is the probability of the action now and q when the action
/// was chosen; the factors before log p get no gradient. Shapes: logits [N, actions], the others [N] ->
/// losses [N]. Source: Williams 1992 (REINFORCE); Mnih et al. 2016, Asynchronous Methods for Deep
/// Reinforcement Learning; the factor p / q is that of tensorpack examples/A3C-Gym.
class PolicyGradient final : public Cost {
 public:
  using Params = PolicyGradientParams;
  static Schema<Params> schema() {
    return with_weights(
        with_policy_fields(
            Schema<Params>("Makes actions that were better than expected more likely (A3C).")
                .example("PolicyGradient: {logits: policy, actions: action, advantages: advantage}"))
            .field("log_probabilities", &Params::log_probabilities,
                   "log probabilities of the actions when they were chosen [N]: weights samples by the ratio "
                   "to their current probability; default: all have weight 1")
            .field("limit", &Params::limit, above(0), "largest weight of a sample"));
  }
  explicit PolicyGradient(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  SampleLosses losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol now = log_probabilities(model, p_);
    Symbol factor = constants_like(model, p_.advantages, now);
    if (!p_.log_probabilities.empty()) {
      const Symbol then = constants_like(model, p_.log_probabilities, now);
      factor = b.mul(factor, b.min(b.exp(b.sub(b.stop_gradient(now), then)), p_.limit));
    }
    return b.neg(b.mul(factor, now));
  }

  Params p_;
};

TPACK_REGISTER(Cost, PolicyGradient, "PolicyGradient");

}  // namespace
}  // namespace tpack
