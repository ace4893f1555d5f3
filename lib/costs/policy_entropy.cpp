#include "model/cost.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

struct PolicyEntropyParams : SampleCostParams {
  Ref<LayerOutput> logits;
};

/// -sum(p * log p), p = softmax(logits). Shapes: logits [N, actions] -> losses [N]. Source: Mnih et al. 2016,
/// Asynchronous Methods for Deep Reinforcement Learning, section 4.
class PolicyEntropy final : public Cost {
 public:
  using Params = PolicyEntropyParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>("Entropy of a policy. With a negative weight, the policy keeps trying other actions.")
            .example("PolicyEntropy: {logits: policy, weight: -0.01}")
            .field("logits", &Params::logits,
                   "scores of the actions [N, actions]; the policy is their softmax")
            .required());
  }
  explicit PolicyEntropy(Params p) : Cost(p), p_(std::move(p)) {}

 private:
  SampleLosses losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol logs = log_softmax(b, b.to_float(model.output(p_.logits)));
    return b.neg(b.reduce_sum(b.mul(b.exp(logs), logs), {1}));
  }

  Params p_;
};

TPACK_REGISTER(Cost, PolicyEntropy, "PolicyEntropy");

}  // namespace
}  // namespace tpack
