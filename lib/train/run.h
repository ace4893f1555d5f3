#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "dataflow/data_flow.h"
#include "monitor/monitors.h"
#include "tensor/state.h"
#include "train/trainer.h"

namespace tpack {

/// The numbers that control the loop.
struct RunLength {
  int64_t starting_epoch = 1;
  int64_t max_epoch = 99999;  // inclusive
  int64_t steps_per_epoch = 0;

  /// Steps from the beginning of the run; the largest number for a run without an end.
  int64_t steps() const {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const bool fits = steps_per_epoch == 0 || max_epoch <= kMax / steps_per_epoch;
    return fits ? max_epoch * steps_per_epoch : kMax;
  }
};

/// A checkpoint requested by a callback.
struct CheckpointRequest {
  /// Checkpoints for resume are written last: if a run is killed in between, it repeats the hooks that
  /// requested the others.
  enum class Purpose : uint8_t { kKeepBest, kResume };
  std::string name;  // of the file below the folder's "checkpoints"
  Purpose purpose = Purpose::kResume;
  std::function<void(const std::string& path)> saved;
  /// The failure is already in the log.
  std::function<void(const Error& error)> failed;
  /// Changes the content of this file; if it removes the run's state, the file cannot be used for resume.
  std::function<void(CheckpointContent& content)> change = nullptr;
};

/// The run as callbacks see it, with the parts that the trainer offers (trainer_parts.h); never the trainer.
/// Threads: the training thread.
class Run {
 public:
  Run(Trainer& trainer, Monitors& monitors, RunLength length, std::string folder,
      const std::map<std::string, DataFlow>& flows, uint64_t seed, bool is_chief);

  // The position of the run (tensorpack's numbering): epochs from 1, starting_epoch - 1 before the first one;
  // local_step from 0, -1 before the first step of an epoch; global_step counts finished steps, and hooks
  // after a step see the new number.
  int64_t epoch() const { return epoch_; }
  int64_t local_step() const { return local_step_; }
  int64_t global_step() const { return global_step_; }
  /// The step for schedules: global_step, unless a resumed run has epochs of a different length. Then it is
  /// computed as if all epochs had had the new length.
  int64_t schedule_step() const { return global_step_ + schedule_offset_; }
  const RunLength& length() const { return length_; }
  /// Seconds since 1970, by the clock of the run (LoopOptions::clock).
  double time_s() const { return clock_(); }

  Monitors& monitors() { return monitors_; }
  /// As Trainer::part: this part of the trainer, or an empty one.
  template <class Part>
  Part& part() const {
    return trainer_.part<Part>();
  }
  /// Folder of the run's files; empty if it writes none.
  const std::string& folder() const { return folder_; }
  /// True on the one process that writes files.
  bool is_chief() const { return is_chief_; }

  /// True if the run continues from a checkpoint: then the variables already have their values.
  bool resumed() const { return resumed_; }
  /// False before the first step of this process: then the trainer has no data of a last step.
  bool has_stepped() const { return has_statistics_; }
  /// In `save`: true if the resumed process has to run hooks of the last step or its epoch, which need data
  /// of the step.
  bool is_before_phase() const { return is_before_phase_; }
  /// Value of a statistic in the last step that computed it, by the number that Setup gave; empty before the
  /// first value, before the first step of this process, and after a step that skipped its update.
  std::optional<double> statistic(size_t index) const;
  /// False if the last step did not compute the statistic: its update was not due.
  bool statistic_is_of_last_step(size_t index) const;
  /// As GradientUpdates::skipped_updates.
  std::vector<std::string> skipped_updates() const {
    return before_ ? before_->skipped : part<GradientUpdates>().skipped_updates();
  }

  // Variables. They are allocated between `setup` and `compile` of the callbacks, and have their initial or
  // loaded values from `before_train` on. Setup::variables has their names before. Returns those of a scope
  // by name; empty if the trainer has none, and in `setup`. Shared, not copied.
  std::map<std::string, Tensor> variables(VariableScope scope);
  /// The store of the first tower, which validation and checkpoints use. Not in `setup`, and only if there
  /// are variables. Other towers keep their values until `share_variables`.
  VariableStore& store() const { return *part<TrainedVariables>().variables(); }
  /// Copies the variables of the first tower to all others; on every rank.
  void share_variables();
  /// A number that may be set between steps ("learning_rate"). Errors: ConfigError with the known names if it
  /// does not exist. Not in `setup`, where only the names are known. Only the first call allocates.
  double hyper_parameter(const std::string& name) const;
  void require_hyper_parameter(const std::string& name, const Position& where = {}) const;
  void set_hyper_parameter(const std::string& name, double value);
  /// The value of the chief, on every rank, after all have called this. Errors: DistributedError.
  double of_chief(double value) const;
  /// The texts of all ranks, after all have called this. Errors: DistributedError.
  std::vector<std::string> of_all_ranks(const std::string& own) const;
  int64_t rank() const { return world_ != nullptr ? world_->rank() : 0; }
  int64_t ranks() const { return world_ != nullptr ? world_->size() : 1; }

  /// The trained tower and its device, to run it on other data. Errors: ConfigError if the trainer has no
  /// model.
  ModelHandle model_handle();
  /// As TrainedModel::model_handles. Errors: as above.
  std::vector<ModelHandle> model_handles();
  const std::map<std::string, DataFlow>& flows() const { return flows_; }
  /// Errors: ConfigError with the known names if it does not exist.
  const DataFlow& flow(const Ref<FlowName>& name) const;
  uint64_t seed() const { return seed_; }
  /// Stop is requested if the run should end early (a signal). Long operations of before_train, trigger_step
  /// and trigger_epoch check it and throw Stopped (`Callback::may_end_early`): the run then ends with a
  /// checkpoint of the state before this hook of all callbacks, and begins with this hook when it is resumed.
  const std::stop_token& stop_token() const { return stop_token_; }
  /// Ends training normally, in any hook: the step finishes with all of its hooks (in the last step of an
  /// epoch, also the epoch), and a resumed run repeats nothing. The first reason is shown; all ranks end at
  /// the same step.
  void request_stop(std::string reason) {
    if (!stop_reason_) stop_reason_ = std::move(reason);
  }
  /// In after_train: true if nothing was thrown, and the run was not interrupted.
  bool ended_well() const { return ended_well_; }

  /// Requests a checkpoint, which is written after all current hooks have run, so that it has their changes;
  /// in the last step of an epoch, after the epoch's hooks. Requests with the same name are one file.
  /// Requests in after_train are written unless the run ended with an error. Errors: InternalError for a
  /// checkpoint for resume inside `with_change`.
  void request_checkpoint(CheckpointRequest request);
  /// Steps with checkpoints requested by a signal.
  const std::set<int64_t>& asked_for() const { return asked_for_; }
  /// Requests during `act` get this change.
  void with_change(const std::function<void(CheckpointContent&)>& change, const std::function<void()>& act);

  // The weights of the model, which reports must describe. A callback may restore the weights of this step
  // later.
  void may_restore_this_step() { restorable_step_ = global_step_; }
  std::optional<int64_t> restorable_step() const { return restorable_step_; }
  /// It has done so; until the next step.
  void restored(int64_t step) { restored_step_ = step; }
  /// Empty: the model has the weights of the last step.
  std::optional<int64_t> restored_step() const { return restored_step_; }
  /// Temporary weights from a callback instead of the trained ones: "the mean of ...".
  const std::string& borrowed_weights() const { return borrowed_weights_; }
  void borrow_weights(std::string what) { borrowed_weights_ = std::move(what); }

  /// Tells other ranks, which may wait for this one, its activity while `act` runs, except during common
  /// work.
  void while_busy(const std::string& what, const std::function<void()>& act) const;

 private:
  friend class Loop;
  /// Common work of all ranks. Errors: those of `agree`.
  void together(const std::function<void()>& act) const;
  /// A step was done in this process.
  void statistics_of_step();
  /// The data of the last step for callbacks, also in a run that is resumed in its hooks.
  State last_step() const;
  void take_last_step(const State& state);

  /// The last step of an earlier process, which this one continues.
  struct StepBefore {
    std::map<size_t, double> statistics;  // by number; those that have a value
    std::set<size_t> of_last_step;
    std::vector<std::string> skipped;
  };

  std::stop_token stop_token_;
  Comm* world_ = nullptr;  // null: this process alone
  Trainer& trainer_;
  Monitors& monitors_;
  RunLength length_;
  std::string folder_;
  const std::map<std::string, DataFlow>& flows_;
  uint64_t seed_;
  bool is_chief_;
  int64_t epoch_ = 0;
  int64_t local_step_ = -1;
  int64_t global_step_ = 0;
  int64_t schedule_offset_ = 0;
  bool resumed_ = false;
  bool has_statistics_ = false;
  bool is_before_phase_ = false;
  std::optional<StepBefore> before_;  // until this process has done a step
  bool ended_well_ = false;
  std::optional<std::string> stop_reason_;
  std::optional<int64_t> restorable_step_;
  std::optional<int64_t> restored_step_;
  std::string borrowed_weights_;
  std::vector<CheckpointRequest> requests_;
  std::set<int64_t> asked_for_;
  std::function<double()> clock_ = wall_time_s;
  std::function<void(CheckpointContent&)> change_;     // of those that are requested now
  mutable std::vector<std::string> hyper_parameters_;  // once one was requested
};

}  // namespace tpack
