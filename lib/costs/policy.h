#pragma once

#include <concepts>

#include "model/cost.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {

/// The fields of costs of policies: the scores of actions, the chosen actions and their advantages.
struct PolicyFields {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> actions;
  Ref<LayerOutput> advantages;
};

/// Adds the fields of PolicyFields to a schema whose Params derive from it.
template <std::derived_from<PolicyFields> P>
Schema<P> with_policy_fields(Schema<P> schema) {
  schema
      .field("logits", static_cast<Ref<LayerOutput> P::*>(&P::logits),
             "scores of the actions [N, actions]; the policy is their softmax")
      .required()
      .field("actions", static_cast<Ref<LayerOutput> P::*>(&P::actions), "the chosen actions, int32 [N]")
      .required()
      .field("advantages", static_cast<Ref<LayerOutput> P::*>(&P::advantages),
             "advantages of the actions [N]; get no gradient")
      .required();
  return schema;
}

/// Log probability of each chosen action, [N].
inline Symbol log_probabilities(const ModelView& model, const PolicyFields& fields) {
  Builder& b = model.builder();
  return b.neg(
      b.emit<SoftmaxCrossEntropy>({}, {model.output(fields.logits), model.output(fields.actions)}).out());
}

/// An output with one number for each sample, which gets no gradient, as [N]. Errors: ShapeError.
inline Symbol constants_like(const ModelView& model, const Ref<LayerOutput>& ref, Symbol x) {
  Builder& b = model.builder();
  return b.stop_gradient(model.like({0, ref}, x).symbol);
}

}  // namespace tpack
