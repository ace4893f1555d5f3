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
#include "train/run.h"
#include "train/trainer.h"

namespace tpack {

/// How a run came to its end, when it did not throw.
enum class StopReason : uint8_t {
  kFinished,    // max_epoch is done
  kPaused,      // until_epoch is done, max_epoch is not
  kStopped,     // a callback asked for it
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
  std::optional<int64_t> restored_step = {};  // whose weights the model has, if not those of the last step
};

struct LoopOptions {
  RunLength length;
  std::optional<int64_t> until_epoch = std::nullopt;  // this process runs no later one
  std::string folder;                                 // empty: nothing is written
  Comm* world = nullptr;                              // never null
  std::stop_token interrupt;  // asks for an early end: the step is finished, a checkpoint saved
  /// Asked after each step: why a checkpoint is to be saved now ("SIGUSR1"); empty: it is not. Null: never.
  std::function<std::string()> save_request = nullptr;
  std::map<std::string, DataFlow> flows;
  uint64_t seed = 0;
  std::map<std::string, std::string> texts = {};              // for monitors when a run begins, by name
  std::function<void(CheckpointContent&)> add_to_checkpoint;  // config, plan, seed: what the run itself knows
  FileIo* io = &FileIo::system();                             // what checkpoints are written with
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
/// Before each step and each epoch the ranks agree whether the run goes on: one whose callback requests a
/// stop ends all of them. In before_train, trigger_step and trigger_epoch a signal may end a long callback
/// early. Then this hook counts as not begun for all of them: the checkpoint has the state before it, and a
/// run that is resumed calls it again. What counts is what rank 0 had done: where a callback of another rank
/// ended early after rank 0 was through, it is not called again.
///
/// Threads: the calling thread is the training thread.
class Loop {
 public:
  /// Sets the callbacks up (chief-only ones are left out elsewhere) and initializes the trainer.
  /// Errors: what they throw.
  Loop(Trainer& trainer, std::vector<NamedCallback> callbacks, Monitors& monitors, LoopOptions options);

  /// Takes a checkpoint's state: counters, trainer, callbacks, histories. Before `run`, on every rank.
  /// Errors: CheckpointError.
  void resume(const CheckpointContent& content, const std::string& source);
  /// Runs to the end. Errors: whatever a hook or a step throws, after after_train of all callbacks.
  LoopResult run();
  /// What `run` gave, or how far it came when it threw.
  const LoopResult& result() const { return result_; }
  Run& state() { return run_; }
  /// The checkpoint that was taken is of the last epoch of this process, or a later one.
  bool nothing_is_left() const { return is_resumed_ && first_epoch_ > last_epoch(); }
  /// The scalars that the callbacks will give.
  const StatisticGoals& scalars() const { return scalars_; }

  /// Everything that makes the next step what it would be: for saving now.
  CheckpointContent checkpoint_content();

 private:
  /// What an epoch's line is about.
  struct EpochStart {
    Stopwatch watch = {};
    ProcessorShare processors = {};
    double waited_s = 0;
    int64_t samples = 0;
    int64_t step = 0;
  };
  /// Where a run that goes on from a checkpoint is.
  struct Place {
    int64_t epoch = 0;
    int64_t local_step = -1;
    bool epoch_done = false;
  };
  /// What callbacks may have changed by the time that one of them ends early.
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
  void report_epoch(const EpochStart& start) const;
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
  CheckpointWriter writer_;
  LoopResult result_;
};

}  // namespace tpack
