#include "agents/agent.h"

namespace tpack {

State Agent::save() const {
  State state;
  state.put("given", given_);
  for (const HyperParameter& one : hyper_parameters_) state.put(one.name, one.value);
  state.put("own", save_own());
  return state;
}

void Agent::load(const State& state) {
  given_ = state.get<int64_t>("given");
  for (HyperParameter& one : hyper_parameters_) one.value = state.get<double>(one.name, one.value);
  load_own(state.part("own"));
}

}  // namespace tpack
