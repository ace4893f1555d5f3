#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/model_handle.h"
#include "backend/program.h"
#include "checkpoint/checkpoint.h"
#include "graph/statistic.h"
#include "graph/tower_function.h"
#include "input/input_source.h"

// Optional parts of a trainer. A trainer derives from the parts that it has; the loop, callbacks and tools
// get them by type (Trainer::part). If a trainer does not have a part, its functions return the empty results
// of these base classes.
namespace tpack {

/// A statistic of each step.
struct StepStatistic {
  std::string name;
  bool minimized = false;  // by training, which has diverged if this is NaN
  bool is_mean = false;    // already over several steps: reported unchanged
  std::optional<Goal> goal = {};

  /// Minimized statistics should be small.
  std::optional<Goal> known_goal() const { return minimized ? Goal::kMin : goal; }
};

/// The statistics of steps, by number. From setup on.
class StepStatistics {
 public:
  virtual ~StepStatistics() = default;
  virtual std::vector<StepStatistic> statistics() const { return {}; }
  /// The value in the last step that computed it; empty if none has.
  virtual std::optional<double> statistic(size_t index) const {
    (void)index;
    return std::nullopt;
  }
  /// False if the last step did not compute the statistic.
  virtual bool statistic_is_of_last_step(size_t index) const {
    (void)index;
    return true;
  }
};

/// The variables that steps train. `variables()` is enough if there is one store.
class TrainedVariables {
 public:
  virtual ~TrainedVariables() = default;
  /// From compile on; null if there are none, and between setup and compile may be null. `initialize`, and
  /// then `load`, set the values.
  virtual VariableStore* variables() const { return nullptr; }
  /// Copies `variables()` to all replicas after changes. On every rank.
  virtual void share_variables() {}

  /// Numbers that callbacks may read and set between steps ("learning_rate", of a named update
  /// "d/learning_rate"); the names from setup on. The other two are called with one of these names, from
  /// compile on; neither allocates. By default the hyper-parameters of `variables()`.
  virtual std::vector<std::string> hyper_parameters() const {
    const VariableStore* store = variables();
    return store != nullptr ? store->table().hyper_parameters() : std::vector<std::string>();
  }
  virtual double hyper_parameter(const std::string& name) const { return variables()->number(name); }
  /// Sets it on every replica of this process.
  virtual void set_hyper_parameter(const std::string& name, double value) {
    variables()->set_number(name, value);
  }
  /// The schedules of hyper-parameters, by name; the loop sets their values before each step. From setup on.
  virtual std::map<std::string, std::shared_ptr<const Schedule>> schedules() const { return {}; }
};

/// The trained model, for other data.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  /// From setup on.
  virtual std::optional<ModelHandle> model_handle() { return std::nullopt; }
  /// The towers of this process that may run on other data at the same time, between steps. From setup on.
  virtual std::vector<ModelHandle> model_handles() {
    const auto model = model_handle();
    return model ? std::vector{*model} : std::vector<ModelHandle>();
  }
  /// Calls work(k) for each of them, at the same time, on its thread. Errors: the first one thrown.
  virtual void on_towers(const std::function<void(size_t)>& work) { work(0); }
  /// For a trainer that makes the model itself: the tower that a checkpoint of this trainer describes. Null
  /// for other trainers. Works without setup. Errors: CheckpointError.
  virtual std::unique_ptr<TowerFunction> stored_tower(const CheckpointContent& content,
                                                      const std::string& source) const {
    (void)content;
    (void)source;
    return nullptr;
  }
};

/// The size of a step, for the table at the start of a run.
struct StepSize {
  int64_t batch = 0;  // samples of one tower's batch; 0 if there are no samples
  int64_t towers = 1;
  int64_t ranks = 1;
  int threads = 1;         // of each tower
  int64_t accumulate = 1;  // batches of each tower

  int64_t batches() const { return towers * ranks * accumulate; }
};

/// A batch of one tower, and the parameters of its step for programs.
struct TowerBatch {
  std::span<const Tensor> inputs;  // in the order of the tower function's
  RunInfo info;
};

/// The data that steps train on.
class StepData {
 public:
  virtual ~StepData() = default;
  /// Steps in one pass over the data by all replicas together; empty if unknown.
  virtual std::optional<int64_t> steps_per_pass() const { return std::nullopt; }
  virtual StepSize step_size() const { return {}; }
  /// Samples that the towers of this process have trained on, all together.
  virtual int64_t samples() const { return 0; }
  /// Seconds that the towers of this process have waited for data, all together.
  virtual double waited_s() const { return 0; }
  /// The queue of the first tower of this process; nothing if it has none.
  virtual std::optional<InputQueue> input_queue() const { return std::nullopt; }
  /// After a step that returned false: "the data ended", with the place if others had more.
  virtual std::string end_of_data() const { return "the data ended"; }

  /// Calls `watch` in each step, on the thread of the first tower of this process, when that tower has its
  /// (first) batch, before any computation: `watch` may run programs on the model. From setup on.
  virtual void watch_batches(const std::function<void(const TowerBatch&)>& watch) { (void)watch; }
  /// The last batch of a tower of this process; valid until the next step. Empty before the first step, and
  /// for towers that do not wait for the end of a step.
  virtual std::optional<TowerBatch> last_batch(size_t tower) const {
    (void)tower;
    return std::nullopt;
  }
};

/// Updates by gradients, which may be skipped.
class GradientUpdates {
 public:
  virtual ~GradientUpdates() = default;
  /// From now on, an update with a gradient that is not finite is skipped and changes nothing, on all
  /// replicas. Between setup and compile.
  virtual void guard_updates() {}
  /// The updates that the last step skipped for this reason, with their names in messages: "", "update d";
  /// the same on every rank.
  virtual std::vector<std::string> skipped_updates() const { return {}; }
  /// The factor that turns the gradient of a variable into the mean over all batches of the last step. Empty
  /// if that step did not compute it, because the update of the variable was not due.
  virtual std::optional<double> gradient_scale(const std::string& variable) const {
    (void)variable;
    return 1;
  }
};

/// Bytes on the devices of a trainer, for all towers of this process.
struct TrainerMemory {
  uint64_t variables = 0;    // with gradients and slots
  uint64_t activations = 0;  // and scratch, of the program that needs the most
  uint64_t constants = 0;
};

/// The compiled programs of a step. After compile.
class StepPrograms {
 public:
  virtual ~StepPrograms() = default;
  /// The programs of the first tower, in order: tools measure them and add up their FLOPs.
  virtual std::vector<NamedExecutable> programs() const { return {}; }
  virtual TrainerMemory memory() const { return {}; }
};

/// State that differs between the replicas of a model, such as moving averages of their batches.
class ReplicaState {
 public:
  virtual ~ReplicaState() = default;
  /// Called before the steps of each epoch except the first one of the process, on every rank.
  virtual void before_epoch() {}
  /// True if a checkpoint stores state of each rank: then all call `gather` before the chief calls
  /// Trainer::save.
  virtual bool saves_together() const { return false; }
  virtual void gather() {}
};

}  // namespace tpack
