#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "system/processor_share.h"
#include "train/callback_list.h"
#include "train/checkpoint_writer.h"
#include "train/data_wait.h"
#include "train/run.h"
#include "train/trainer.h"

namespace tpack {

/// How a run ended without an exception.
enum class StopReason : uint8_t {
  kFinished,    // max_epoch is done
  kPaused,      // until_epoch is done, max_epoch is not
  kStopped,     // a callback requested it
  kEndOfData,   // the trainer had no more data
  kInterrupted  // a request from outside (a signal)
};

struct LoopResult {
  StopReason ending = StopReason::kFinished;
  std::string reason;
  int64_t epoch = 0;
  int64_t global_step = 0;
  bool lacks_a_save = false;                  // a save failed, and no later one succeeded
  std::string missing_checkpoint = {};        // its path
  std::optional<int64_t> restored_step = {};  // the step of the model's weights, if not the last one
};

struct LoopOptions {
  RunLength length;
  std::optional<int64_t> until_epoch = std::nullopt;  // the last epoch of this process
  std::string folder;                                 // empty: nothing is written
  Comm* world = nullptr;                              // never null
  std::stop_token interrupt;  // requests an early end: finishes the step and saves a checkpoint
  /// Called after each step: the reason to save a checkpoint now ("SIGUSR1"); empty: do not save. Null:
  /// never.
  std::function<std::string()> save_request = nullptr;
  std::map<std::string, DataFlow> flows;
  uint64_t seed = 0;
  std::map<std::string, std::string> texts = {};              // for monitors when a run begins, by name
  std::function<void(CheckpointContent&)> add_to_checkpoint;  // config, plan, seed: texts of the run itself
  FileIo* io = &FileIo::system();                             // options of writing checkpoints
  std::function<double()> clock = wall_time_s;                // seconds since 1970
};

/// The one loop of training: exactly tensorpack's order of hooks (reference in docs/concepts.md).
///
///   before_train
///   for epoch in starting_epoch .. max_epoch:
///     before_epoch
///     for local_step in 0 .. steps_per_epoch - 1:
///       before_run, the step, after_run, trigger_step
///     after_epoch
///     trigger_epoch
///   after_train (always)
///
/// Before each step and each epoch the ranks agree whether to continue: a stop request on one rank ends all
/// of them. In before_train, trigger_step and trigger_epoch a signal may end a long callback early. Then this
/// hook counts as not begun for all callbacks: the checkpoint has the state before it, and a resumed run
/// calls it again. Rank 0 decides: if a callback of another rank ended early after rank 0 had finished the
/// hook, it is not called again.
///
/// Threads: the calling thread is the training thread.
class Loop {
 public:
  Loop(Trainer& trainer, std::vector<NamedCallback> callbacks, Monitors& monitors, LoopOptions options);

  /// Sets up the callbacks (chief-only ones only on the chief) and initializes the trainer. Before all
  /// others, on every rank. Errors: what they throw.
  void set_up();
  /// Loads the state of a checkpoint: counters, trainer, callbacks, histories. After `set_up`, on every rank.
  /// Errors: CheckpointError.
  void resume(const CheckpointContent& content, const std::string& source);
  /// Runs to the end. Errors: whatever a hook or a step throws, after after_train of all callbacks.
  LoopResult run();
  /// The result of `run`, or its progress when it threw.
  const LoopResult& result() const { return result_; }
  Run& state() { return run_; }
  /// True if the loaded checkpoint is from the last epoch of this process, or a later one.
  bool nothing_is_left() const { return is_resumed_ && first_epoch_ > last_epoch(); }
  /// The scalars that the callbacks will report.
  const StatisticGoals& scalars() const { return scalars_; }

  /// The state that determines the next step, for saving now.
  CheckpointContent checkpoint_content();

 private:
  /// Reports the line of an epoch.
  struct EpochStart {
    Stopwatch watch = {};
    ProcessorShare processors = {};
    double waited_s = 0;
    StreamStats queue = {};
    int64_t samples = 0;
    int64_t step = 0;
  };
  /// The position of a run resumed from a checkpoint.
  struct Place {
    int64_t epoch = 0;
    int64_t local_step = -1;
    bool epoch_done = false;
  };
  /// State that callbacks may have changed when one of them ends early.
  struct BeforePhase {
    CheckpointContent callbacks;  // and the counters
    std::map<std::string, double> hyper_parameters = {};
    std::map<std::string, Tensor> variables = {};
    std::optional<std::string> stop_reason;
    size_t requests = 0;  // their number
  };

  // loop.cpp
  void run_to_end();
  void before_train();
  void run_epoch(int64_t epoch);
  void run_step(int64_t step);
  void save_before_step();
  void trigger_step();
  void trigger_epoch();
  void run_phase(HookPhase phase, Hook hook);
  void each(Hook hook);
  void call_slow(const NamedCallback& named, Hook hook);
  void call(const NamedCallback& named, Hook hook);
  void leave_if_asked();
  [[noreturn]] void end_before_step(StopReason ending, const std::string& reason);
  int64_t last_epoch() const;
  void open_monitors();
  void end_of_epochs();
  void interrupted(const std::string& reason);
  std::exception_ptr after_train();
  // epoch_report.cpp
  void report_epoch(const EpochStart& start);
  SlowData slow_data_since(const EpochStart& start, double seconds, double samples_per_s) const;
  // loop_checkpoint.cpp
  bool may_end_early(HookPhase phase) const;
  void keep_state();
  void undo_phase();
  Place place() const;
  CheckpointContent callbacks_content();
  bool gather(std::vector<CheckpointRequest>& requests);
  void write_requested();
  void save_if_asked();
  void load_phase(const State& state, bool epoch_ends);
  void load_callbacks(const CheckpointContent& content, const std::string& source);

  Trainer& trainer_;
  std::vector<NamedCallback> callbacks_;
  Monitors& monitors_;
  LoopOptions options_;
  Run run_;
  StatisticGoals scalars_;
  bool begun_ = false;       // an epoch of this process; before, it is where it was
  bool epoch_done_ = false;  // all hooks of epoch_ have run
  bool is_resumed_ = false;
  HookPhase phase_ = HookPhase::kNone;       // which has begun, or which the interrupted process had begun
  std::optional<BeforePhase> before_phase_;  // while it runs, where a callback may end early
  int64_t first_local_step_ = 0;             // of the first epoch: not 0 after a resume in mid-epoch
  int64_t first_epoch_;
  int64_t start_step_ = 0;  // of this process
  CheckpointWriter writer_;
  LoopResult result_;
  std::string told_cause_;  // of slow data
};

}  // namespace tpack
