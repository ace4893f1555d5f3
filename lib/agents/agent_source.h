#pragma once

#include <memory>

#include "agents/agent.h"
#include "dataflow/source.h"

namespace tpack {

/// A source of samples that an agent makes while the model learns from them. A trainer starts the agent with
/// a predictor, so only `data.train` can have such a source. Its samples are endless and come only once, in
/// one order: opening the flow at any position other than the agent's is an error.
class AgentSource : public Source {
 public:
  FlowPtr flow(const StageContext& context, FlowBuilder& builder) final;
  SourceFacts facts() const override { return {.samples = kEndless, .unit = "steps of episodes"}; }

  virtual Spec spec() const = 0;
  virtual AgentModel model() const = 0;
  /// Makes the agent (a new one each time), which `flow` reads until `stop`. Threads: nobody reads the flow
  /// meanwhile.
  Agent& start(uint64_t seed) const;
  void stop() const { agent_.reset(); }
  /// Null if none was started.
  Agent* agent() const { return agent_.get(); }

 protected:
  virtual std::unique_ptr<Agent> make_agent(uint64_t seed) const = 0;

 private:
  mutable std::unique_ptr<Agent> agent_;  // the only part of a source that changes
};

/// The source of a flow if it is an AgentSource, else null. Errors: ConfigError for stages other than
/// BatchData after it: they would read ahead of the model, and the model would see different observations
/// when it acts and when it learns.
const AgentSource* agent_source_of(const Flow& flow);

}  // namespace tpack
