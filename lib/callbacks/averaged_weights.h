#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "callbacks/weight_average.h"
#include "train/callback_list.h"

namespace tpack {

/// Base of callbacks that keep an average of the model's weights. Their inner callbacks see the model with
/// these weights, and training continues with the original ones. They run on the chief.
class AveragedWeights : public Callback, public CheckpointWriting {
 public:
  std::vector<std::string> checkpoints() const override;
  void setup(Setup& setup) override;
  void compile(Run& run) override { each(Hook::kCompile, run); }
  void before_train(Run& run) override { each(Hook::kBeforeTrain, run); }
  void before_epoch(Run& run) override { each(Hook::kBeforeEpoch, run); }
  void before_run(Run& run) override { each(Hook::kBeforeRun, run); }
  void after_run(Run& run) override { each(Hook::kAfterRun, run); }
  void trigger_step(Run& run) override { each(Hook::kTriggerStep, run); }
  void after_epoch(Run& run) override { each(Hook::kAfterEpoch, run); }
  void after_train(Run& run) override { each(Hook::kAfterTrain, run); }
  std::vector<std::pair<std::string, Goal>> saves_best_of() const override;
  void save(State& state) const override;
  void load(const State& state) override;

 protected:
  /// `name`: "SWA". `file`: the checkpoint with the average. `no_every`: why `every` has no effect. Errors:
  /// ConfigError.
  AveragedWeights(const char* name, const char* file, const char* no_every,
                  const std::vector<Slot<Callback>>& callbacks);

  /// Triggers the callbacks with the average as the weights of the model, and requests its checkpoint.
  /// `what`: its description, "the mean of 3 epochs' weights".
  void show(Run& run, const std::string& what);
  WeightAverage average_;

 private:
  void take_in(const NamedCallback& named, Diagnostics& errors);
  void each(Hook hook, Run& run);

  const char* name_;
  const char* file_;
  std::vector<NamedCallback> inner_;
};

/// The field of these callbacks.
inline constexpr const char* kAveragedCallbacks =
    "callbacks that run with the averaged weights, such as MaxSaver, or InferenceRunner on a flow with a "
    "different name (in `data`, `averaged: validation` defines a second name)";

}  // namespace tpack
