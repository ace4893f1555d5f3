#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/model_handle.h"
#include "backend/open_device.h"
#include "backend/program.h"
#include "checkpoint/checkpoint.h"
#include "comm/comm.h"
#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "graph/statistic.h"
#include "graph/tower_function.h"
#include "input/input_source.h"
#include "optim/update.h"

namespace tpack {

/// What a trainer is given. What it does not need may be missing.
struct TrainSetup {
  const TowerFunction* tower = nullptr;                    // the model
  std::vector<Update> updates;                             // what trains it
  const std::map<std::string, DataFlow>* flows = nullptr;  // never null
  const InputSource* input = nullptr;                      // never null
  EngineSettings engine;
  Plan* plan = nullptr;   // never null
  Comm* world = nullptr;  // never null: the group of one if mpirun did not start the process
  uint64_t seed = 0;

  /// data.train; null if there is none.
  const DataFlow* train_flow() const {
    const auto found = flows->find("train");
    return found != flows->end() ? &found->second : nullptr;
  }
};

/// A figure that steps give.
struct StepStatistic {
  std::string name;
  bool minimized = false;  // by the training, which has diverged if this is NaN
  bool is_mean = false;    // of more than the step already: reported as it is
  std::optional<Goal> goal = {};

  /// What the training minimizes should be small.
  std::optional<Goal> known_goal() const { return minimized ? Goal::kMin : goal; }
};

/// What a step works on, for the table at the start of a run.
struct StepSize {
  int64_t batch = 0;  // samples of one tower's batch; 0 if there are no samples
  int64_t towers = 1;
  int64_t ranks = 1;
  int threads = 1;         // of each tower
  int64_t accumulate = 1;  // batches of each tower

  int64_t batches() const { return towers * ranks * accumulate; }
};

/// A batch of one tower, and what its step gives to programs.
struct TowerBatch {
  std::span<const Tensor> inputs;  // in the order of the tower function's
  RunInfo info;
};

/// Bytes that the devices of a trainer hold, all towers of this process together.
struct TrainerMemory {
  uint64_t variables = 0;    // with gradients and slots
  uint64_t activations = 0;  // and scratch, of the program that needs most
  uint64_t constants = 0;
};

/// Says what one step is, and of which variables and statistics; the loop, callbacks and files are not its
/// concern. A trainer of one's own writes `step`, and mostly `variables`, `statistics` and `statistic`; the
/// other functions are what callbacks and tools may ask for, and do nothing unless a trainer has it.
/// Order of calls: setup, compile, initialize (which compiles if that was not done), load or not, then steps.
/// Threads: one caller.
class Trainer {
 public:
  static constexpr const char* kKind = "trainer";
  virtual ~Trainer() = default;

  /// Sections of the config that it cannot do without.
  struct Needs {
    bool data = true;
    bool model = true;
    bool optimizer = true;
  };
  virtual Needs needs() const { return {}; }

  virtual void setup(const TrainSetup& setup) { (void)setup; }
  /// Allocates the variables and compiles the programs.
  virtual void compile() {}
  /// Gives initial values, opens the data.
  virtual void initialize() {}
  /// One step. False at the end of the data. A wait, or a long computation, may end early with Stopped once
  /// `stop` is requested, but not where other ranks count on this one's part of the step, unless they learn
  /// it (rank_vote.h; they throw PeerInterrupted). After either only `save` may follow, which saves the state
  /// before the step. Errors: what the data, a device or a peer throw.
  virtual bool step(int64_t global_step, const std::stop_token& stop) = 0;
  /// After a step that returned false: "the data ended", and where if others had more.
  virtual std::string end_of_data() const { return "the data ended"; }

  /// Statistics of each step, by number.
  virtual std::vector<StepStatistic> statistics() const { return {}; }
  /// The value in the last step that computed it; nothing if no step has.
  virtual std::optional<double> statistic(size_t index) const {
    (void)index;
    return std::nullopt;
  }
  /// False if the last step did not compute the statistic.
  virtual bool statistic_is_of_last_step(size_t index) const {
    (void)index;
    return true;
  }

  /// Steps in one pass over the data by all replicas together; nothing if that is not known.
  virtual std::optional<int64_t> steps_per_pass() const { return std::nullopt; }
  virtual StepSize step_size() const { return {}; }
  /// Samples that the towers of this process have trained on, all together.
  virtual int64_t samples() const { return 0; }
  /// Seconds that the towers of this process have waited for data, all together.
  virtual double waited_s() const { return 0; }

  /// Numbers that callbacks may read and set between steps ("learning_rate", of a named update
  /// "d/learning_rate"); the names from setup on. The other two are called with one of these names, from
  /// compile on; neither allocates. By default those that `variables()` are.
  virtual std::vector<std::string> hyper_parameters() const;
  virtual double hyper_parameter(const std::string& name) const;
  /// Sets it on every replica of this process.
  virtual void set_hyper_parameter(const std::string& name, double value);
  /// The schedules of those that have one, by name; the loop sets them before each step. From setup on.
  virtual std::map<std::string, std::shared_ptr<const Schedule>> schedules() const { return {}; }

  /// From compile on; null if it has none, and between setup and compile may be null. The values are those of
  /// `initialize`, and then of `load`. Which variables there are, `model_handle()->table` says from setup on.
  virtual VariableStore* variables() const { return nullptr; }
  /// Gives `variables()` to all replicas, after they were written to. On every rank.
  virtual void share_variables() {}
  /// The trained tower, to run it on other data. From setup on.
  virtual std::optional<ModelHandle> model_handle() { return std::nullopt; }
  /// That tower as a checkpoint of the trainer has it, to run it without data.train: for a trainer that makes
  /// its own, where the config has no model. Null if it makes none. Without setup. Errors: CheckpointError.
  virtual std::unique_ptr<TowerFunction> stored_tower(const CheckpointContent& content,
                                                      const std::string& source) const {
    (void)content;
    (void)source;
    return nullptr;
  }
  /// The towers of this process that may run on other data at the same time, between steps. From setup on.
  virtual std::vector<ModelHandle> model_handles() {
    const auto place = model_handle();
    return place ? std::vector{*place} : std::vector<ModelHandle>();
  }
  /// Calls work(k) for each of them, at the same time, on its thread. Errors: the first one thrown.
  virtual void on_towers(const std::function<void(size_t)>& work) { work(0); }

  /// Calls `watch` in each step, on the thread of the first tower of this process, when that has its (first)
  /// batch and before anything is computed from it: it may run programs on `model_handle()`. From setup on.
  virtual void watch_batches(const std::function<void(const TowerBatch&)>& watch) { (void)watch; }
  /// The batch that a tower of this process took last; valid until the next step. Nothing before there was
  /// one, and of towers that do not wait for the end of a step.
  virtual std::optional<TowerBatch> last_batch(size_t tower) const {
    (void)tower;
    return std::nullopt;
  }
  /// From now on an update whose gradient is not finite is skipped: what it would change stays as it is, on
  /// all replicas. Between setup and compile.
  virtual void guard_updates() {}
  /// The updates that the last step skipped for this reason, as messages name them: "", "update d"; the same
  /// on every rank.
  virtual std::vector<std::string> skipped_updates() const { return {}; }
  /// What the gradient of a variable in `variables()` is multiplied by to be the mean over all batches of the
  /// last step. Nothing if that has not computed it: the update that trains the variable had no turn.
  virtual std::optional<double> gradient_scale(const std::string& variable) const {
    (void)variable;
    return 1;
  }

  /// The compiled programs of a step, of the first tower, in their order: tools time them and add up their
  /// FLOPs. After compile; empty if a step runs none.
  virtual std::vector<NamedExecutable> programs() const { return {}; }
  /// After compile; zeros if nothing runs on devices.
  virtual TrainerMemory memory() const { return {}; }

  /// Before the steps of an epoch that is not the first one of the process, on every rank.
  virtual void before_epoch() {}

  /// True if a checkpoint holds something of each rank: then all call `gather` before the chief calls `save`.
  virtual bool saves_together() const { return false; }
  virtual void gather() {}
  /// Adds to a checkpoint, and takes back, what makes the next step the same: by default `variables()`; also
  /// the place in the data. Called on the chief; `load` on every rank. Errors: CheckpointError if the content
  /// does not fit.
  virtual void save(CheckpointContent& content) const;
  /// From setup on: whether a run may go on from this content at all, before anything is compiled for it.
  /// Errors: CheckpointError with the reason.
  virtual void check_resumable(const CheckpointContent& content, const std::string& source) const {
    (void)content;
    (void)source;
  }
  virtual void load(const CheckpointContent& content, const std::string& source);
};

}  // namespace tpack
