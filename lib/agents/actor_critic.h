#pragma once

#include <concepts>
#include <vector>

#include "agents/agent.h"
#include "environment/environment.h"

namespace tpack {

/// Fields of sources where one output of the model chooses actions and another one is the value of the state.
struct ActorCriticFields {
  Slot<Environment> environment;
  Ref<LayerOutput> policy;
  Ref<LayerOutput> values;
  double discount = 0.99;
};

/// Adds the fields of ActorCriticFields to a schema whose Params derive from it.
template <std::derived_from<ActorCriticFields> P>
Schema<P> with_actor_critic_fields(Schema<P> schema) {
  schema
      .field("environment", static_cast<Slot<Environment> P::*>(&P::environment),
             "environment that the policy acts in")
      .required()
      .field("policy", static_cast<Ref<LayerOutput> P::*>(&P::policy),
             "output of the model: scores of the actions; their softmax is the probability of each")
      .required()
      .field("values", static_cast<Ref<LayerOutput> P::*>(&P::values),
             "output of the model: the predicted sum of discounted future rewards, one number")
      .required()
      .field("discount", static_cast<double P::*>(&P::discount), between(0, 1),
             "discount factor: weight of a reward that comes one step later");
  return schema;
}

}  // namespace tpack
