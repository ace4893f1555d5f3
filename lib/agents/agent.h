#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule.h"
#include "dataflow/datapoint.h"
#include "environment/episode_record.h"
#include "tensor/state.h"

namespace tpack {

/// Computes outputs of the model in training with its current weights, so that an agent can choose actions.
/// The trainer implements it.
class BatchPredictor {
 public:
  virtual ~BatchPredictor() = default;
  /// The outputs that the agent requested (AgentModel), in its order, for observations [N, ...] with the
  /// declared N. The caller owns the result.
  virtual std::vector<Tensor> run(const Tensor& observations) = 0;
};

/// An agent's requests to the model.
struct AgentModel {
  struct Output {
    Ref<LayerOutput> output;
    int64_t size = 1;  // values for each observation
  };
  std::vector<Output> outputs;     // of the observations, which are fed like the first component
  int64_t batch = 1;               // observations at a time
  Ref<LayerOutput> feedback = {};  // also an output of each training step, for `learn`; empty: none
  /// It predicts in its own threads, at any time. Otherwise only in `next`.
  bool is_asynchronous = false;
};

/// Plays in environments with the model in training, and provides its experience sample by sample. Unlike a
/// cursor it is stateful: its state goes into checkpoints. Threads: one at a time.
class Agent {
 public:
  virtual ~Agent() = default;

  /// A number that a schedule or callbacks set between steps.
  struct HyperParameter {
    std::string name;
    double value = 0;
    std::shared_ptr<const Schedule> schedule = nullptr;
  };
  std::vector<HyperParameter>& hyper_parameters() { return hyper_parameters_; }
  virtual const EpisodeRecord& episodes() const = 0;

  /// Before `load` and the first `next`. `predictor` must outlive the agent.
  virtual void begin(BatchPredictor& predictor) = 0;
  /// Fills the components of `out` with the next sample.
  void next(Datapoint& out) {
    give(out);
    ++given_;
  }
  /// Number of samples from `next`, including earlier processes.
  int64_t given() const { return given_; }
  /// After a training step: the output `feedback` for the samples from `next` since the last call.
  virtual void learn(const Tensor& feedback) { (void)feedback; }
  /// Call instead after a training step that did not compute it, or whose results do not count.
  virtual void learn_nothing() {}

  /// Errors of load: CheckpointError for the state of an agent with other parameters.
  State save() const;
  void load(const State& state);

 protected:
  explicit Agent(std::vector<HyperParameter> hyper_parameters)
      : hyper_parameters_(std::move(hyper_parameters)) {}
  double hyper_parameter(size_t index) const { return hyper_parameters_[index].value; }
  virtual void give(Datapoint& out) = 0;
  virtual State save_own() const = 0;
  virtual void load_own(const State& state) = 0;

 private:
  std::vector<HyperParameter> hyper_parameters_;
  int64_t given_ = 0;
};

}  // namespace tpack
