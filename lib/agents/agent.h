#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule.h"
#include "dataflow/datapoint.h"
#include "environment/episode_record.h"
#include "tensor/state.h"

namespace tpack {

/// Computes outputs of the model that is being trained, with its weights as they are now: how an agent
/// chooses actions. Whoever trains the model implements it.
class BatchPredictor {
 public:
  virtual ~BatchPredictor() = default;
  /// The outputs that the agent asks for (AgentModel), in its order, for observations [N, ...]: N as many as
  /// it said. The caller owns what it gets.
  virtual std::vector<Tensor> run(const Tensor& observations) = 0;
};

/// What an agent asks the model for.
struct AgentModel {
  struct Output {
    Ref<LayerOutput> output;
    int64_t size = 1;  // values for each observation
  };
  std::vector<Output> outputs;     // of the observations, which go where the first component goes
  int64_t batch = 1;               // observations at a time
  Ref<LayerOutput> feedback = {};  // also an output of each training step, for `learn`; empty: none
  /// It asks from threads of its own, at any time. Otherwise only in `next`.
  bool is_asynchronous = false;
};

/// Plays in environments with the model that is being trained, and gives what it has experienced, sample by
/// sample. Unlike a cursor it is stateful: its state goes into checkpoints. Threads: one at a time.
class Agent {
 public:
  virtual ~Agent() = default;

  /// A number that its schedule sets, or callbacks may set, between steps.
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
  /// Samples that `next` has given, in processes before this one, too.
  int64_t given() const { return given_; }
  /// After a training step: the output `feedback` of the samples that `next` gave since the last call.
  virtual void learn(const Tensor& feedback) { (void)feedback; }
  /// Instead, after a training step that has not computed it, or whose results do not count.
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
