#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
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

/// Calls `setup` of each callback, in order, and takes those away that do not run on this process. Returns
/// the scalars that they will give. Errors: ConfigError with the mistakes of all.
StatisticGoals set_up_callbacks(std::vector<NamedCallback>& callbacks, Trainer& trainer, Run& run);

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
  bool lacks_a_save = false;  // a save failed, and no later one succeeded
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
/// stop ends all of them. A signal may cut a callback short in before_train, trigger_step and trigger_epoch;
/// a run that is resumed there goes on with that callback. What counts is what rank 0 had done: a callback
/// that runs on all ranks, and was cut short on another one alone, is not called again.
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

  int64_t last_epoch() const;
  void run_to_end();
  void epochs();
  void epoch(int64_t first_step);
  void one_step();
  /// Those in which a signal may cut a callback short.
  enum class LongHook : uint8_t { kNone, kBeforeTrain, kTriggerStep, kTriggerEpoch };
  static constexpr std::array kLongHookNames = {"", "before_train", "trigger_step", "trigger_epoch"};
  using Hook = void (Callback::*)(Run&);
  void each(Hook hook);
  void call(const NamedCallback& named, Hook hook);
  void call_slow(const NamedCallback& named, Hook hook);
  void before_train();
  void trigger_step();
  void trigger_epoch();
  template <class Act>
  void each_once(LongHook hook, const Act& act);
  void end_hook();
  std::vector<std::string> callbacks_done() const;
  /// Where a run that goes on from a checkpoint is.
  struct Place {
    int64_t epoch = 0;
    int64_t local_step = -1;
    bool epoch_done = false;
  };
  Place place() const;
  void request_again();
  void save_if_asked();
  void before_run();
  bool step();
  bool alone() const { return options_.world->size() == 1; }
  void leave_if_asked();
  [[noreturn]] void end_before_step(StopReason ending, const std::string& reason);
  bool gather(std::vector<CheckpointRequest>& requests);
  void write_requested();
  void interrupted(const std::string& reason);
  void report_epoch(const EpochStart& start) const;
  void load_hook(const State& state, bool epoch_ends);
  void load_callbacks(const CheckpointContent& content, const std::string& source);
  std::exception_ptr after_train();

  Trainer& trainer_;
  std::vector<NamedCallback> callbacks_;
  Monitors& monitors_;
  LoopOptions options_;
  Run run_;
  StatisticGoals scalars_;
  bool begun_ = false;       // an epoch of this process; before, it is where it was
  bool epoch_done_ = false;  // all hooks of epoch_ have run
  bool is_resumed_ = false;
  LongHook hook_ = LongHook::kNone;  // of which some callbacks may have done their part, and others not
  bool hook_goes_on_ = false;        // the interrupted process has begun it
  size_t at_ = 0;                    // index of the callback that runs the hook now; those before it are done
  std::set<std::string> done_before_;  // those that the interrupted process had done
  int64_t first_local_step_ = 0;       // of the first epoch: not 0 after a resume in mid-epoch
  int64_t first_epoch_;
  CheckpointWriter writer_;
  LoopResult result_;
};

}  // namespace tpack
