#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/agent_source.h"
#include "backend/model_handle.h"
#include "checkpoint/checkpoint.h"
#include "parallel/replicas.h"
#include "train/trainer.h"

namespace tpack {

/// Connects the agent of data.train with the model that it plays with: the agent gets a predictor, and the
/// trainer gets its statistics, hyper-parameters and state. Threads: the training thread.
class AgentLink {
 public:
  /// Starts the agent; null if the flow has none. Errors: ConfigError for an input that reads in advance.
  static std::unique_ptr<AgentLink> of(const DataFlow& data, const TrainSetup& setup);
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  /// Outputs that each training step keeps for the agent (ReplicaOptions::fetches).
  std::vector<std::string> fetches() const;
  /// Makes the predictor, on a separate device if the agent may use it at any time. Errors: ConfigError for a
  /// model without the outputs that the agent needs; errors of opening a device.
  void connect(const ModelHandle& handle, const TrainSetup& setup);
  /// The device must have its variables.
  void compile();
  /// Call it before the first step, and whenever variables change outside of a step.
  void take_variables(const VariableStore& variables);
  void after_step(const Replicas& replicas);

  /// Statistics of the last finished episodes, by number.
  static const std::vector<StepStatistic>& statistics();
  std::optional<double> statistic(size_t index) const;
  const std::vector<Agent::HyperParameter>& hyper_parameters() const { return agent_.hyper_parameters(); }
  /// Null if the agent does not have it.
  Agent::HyperParameter* hyper_parameter(const std::string& name) const;

  void save(CheckpointContent& content) const;
  /// Errors: CheckpointError.
  void load(const CheckpointContent& content, const std::string& source);

 private:
  class TowerPredictor;
  class CopyPredictor;
  AgentLink(const AgentSource& source, Position where, uint64_t seed);
  std::string input_for_observations(const TowerFunction& tower) const;

  const AgentSource& source_;
  const Position where_;
  const AgentModel model_;
  Agent& agent_;
  std::unique_ptr<TowerPredictor> predictor_;  // between steps
  std::unique_ptr<CopyPredictor> copy_;        // at any time; one of both
};

}  // namespace tpack
