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

/// Connects the agent of data.train with the model that it plays with: gives it a predictor, and the trainer
/// its statistics, hyper-parameters and state. Threads: the training thread.
class AgentLink {
 public:
  /// Null if the flow has no agent. Starts the agent. Errors: ConfigError for an input that reads ahead.
  static std::unique_ptr<AgentLink> of(const DataFlow& data, const TrainSetup& setup);
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  /// Outputs that each training step keeps for the agent (ReplicaOptions::fetches).
  std::vector<std::string> fetches() const;
  /// Makes the predictor, on a device of its own if the agent asks at any time. Errors: ConfigError for a
  /// model without what the agent asks for; what opening a device throws.
  void connect(const ModelHandle& place, const TrainSetup& setup);
  /// The device must have its variables.
  void compile();
  /// Before the first step, and when the variables have other values for another reason than a step.
  void take_variables(const VariableStore& variables);
  void after_step(const Replicas& replicas);

  /// Of the last episodes that ended, by number.
  static const std::vector<StepStatistic>& statistics();
  std::optional<double> statistic(size_t index) const;
  const std::vector<Agent::HyperParameter>& hyper_parameters() const { return agent_.hyper_parameters(); }
  /// Null if the agent has none of this name.
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
