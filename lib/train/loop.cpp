#include "train/loop.h"

#include <algorithm>

#include "checkpoint/retention.h"
#include "core/stop.h"
#include "system/log.h"
#include "train/rank_vote.h"
#include "train/set_up_callbacks.h"

namespace tpack {
namespace {

/// Ends the loops without an error.
struct EndOfRun {
  StopReason ending;
  std::string reason;
};

}  // namespace

Loop::Loop(Trainer& trainer, std::vector<NamedCallback> callbacks, Monitors& monitors, LoopOptions options)
    : trainer_(trainer),
      callbacks_(std::move(callbacks)),
      monitors_(monitors),
      options_(std::move(options)),
      run_(trainer, monitors, options_.length, options_.folder, options_.flows, options_.seed,
           options_.world->rank() == 0),
      first_epoch_(options_.length.starting_epoch),
      writer_(run_.is_chief() ? options_.folder : "", *options_.io) {
  run_.stop_token_ = options_.interrupt;
  run_.world_ = options_.world;
  run_.clock_ = options_.clock;
}

void Loop::set_up() {
  scalars_ = set_up_callbacks(callbacks_, trainer_, run_);
  trainer_.compile();
  for (const NamedCallback& named : callbacks_) call_slow(named, Hook::kCompile);
  trainer_.initialize();
}

LoopResult Loop::run() {
  try {
    run_to_end();
  } catch (...) {
    log::error("training failed at global_step " + std::to_string(run_.global_step_));
    after_train();  // other failures are in the log
    try {
      writer_.finish();
    } catch (const Error&) {  // also in the log
    }
    throw;
  }
  run_.ended_well_ = result_.ending != StopReason::kInterrupted;
  log::info((run_.ended_well_ ? "training has finished: " : "training was ") + result_.reason);
  const std::exception_ptr failure = after_train();
  write_requested();
  writer_.finish();
  result_.lacks_a_save = writer_.lacks_a_save();
  result_.missing_checkpoint = writer_.missing();
  result_.restored_step = run_.restored_step();
  if (failure) std::rethrow_exception(failure);
  return result_;
}

void Loop::run_to_end() {
  start_step_ = run_.global_step_;
  open_monitors();
  try {
    before_train();
    write_requested();
    for (int64_t epoch = first_epoch_; epoch <= last_epoch(); ++epoch) run_epoch(epoch);
    agree(*options_.world, RankVote::kContinue);  // another rank may have been interrupted in its last hooks
    writer_.finish();
    end_of_epochs();
  } catch (const Stopped&) {  // by a callback
    agree(*options_.world, RankVote::kInterruptNow);
    interrupted("interrupted");
  } catch (const PeerInterrupted&) {
    interrupted("interrupted");
  } catch (const EndOfRun& end) {
    result_.ending = end.ending;
    result_.reason = end.reason;
    if (end.ending == StopReason::kInterrupted) interrupted(end.reason);
    if (end.ending == StopReason::kStopped && begun_ && !epoch_done_) monitors_.end_epoch();
  }
}

void Loop::before_train() {
  if (!is_resumed_) phase_ = HookPhase::kBeforeTrain;
  run_.resumed_ = is_resumed_ && phase_ != HookPhase::kBeforeTrain;
  run_phase(HookPhase::kBeforeTrain, Hook::kBeforeTrain);
  run_.resumed_ = is_resumed_;
}

void Loop::run_epoch(int64_t epoch) {
  if (phase_ == HookPhase::kNone) leave_if_asked();  // else the interrupted hooks run first
  run_.epoch_ = epoch;
  if (epoch > first_epoch_) trainer_.part<ReplicaState>().before_epoch();
  const int64_t first_step = epoch == first_epoch_ ? first_local_step_ : 0;
  run_.local_step_ = first_step - 1;
  begun_ = true;
  epoch_done_ = false;
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  each(Hook::kBeforeEpoch);
  const EpochStart start{.waited_s = trainer_.part<StepData>().waited_s(),
                         .queue = trainer_.part<StepData>().input_queue().value_or(InputQueue{}).stats,
                         .samples = trainer_.part<StepData>().samples(),
                         .step = run_.global_step_};
  if (phase_ == HookPhase::kTriggerStep) trigger_step();
  for (int64_t step = first_step; step < options_.length.steps_per_epoch; ++step) run_step(step);
  each(Hook::kAfterEpoch);
  report_epoch(start);
  trigger_epoch();
  monitors_.end_epoch();
  epoch_done_ = true;
  write_requested();
}

void Loop::run_step(int64_t step) {
  leave_if_asked();
  run_.local_step_ = step;
  try {
    each(Hook::kBeforeRun);
    if (!trainer_.step(run_.global_step_, options_.interrupt)) {
      end_before_step(StopReason::kEndOfData, trainer_.part<StepData>().end_of_data() + " at global_step " +
                                                  std::to_string(run_.global_step_));
    }
  } catch (const Stopped&) {
    end_before_step(StopReason::kInterrupted, "interrupted before the end of a step");
  } catch (const PeerInterrupted&) {
    end_before_step(StopReason::kInterrupted, "interrupted before the end of a step");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kData) save_before_step();
    throw;
  }
  ++run_.global_step_;
  run_.restored_step_.reset();
  run_.statistics_of_step();
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  each(Hook::kAfterRun);
  trigger_step();
}

/// The steps before one whose data cannot be read must not be lost; once the data are right, the run goes on
/// from there.
void Loop::save_before_step() {
  const bool has_new_steps = run_.global_step_ > start_step_;
  if (!has_new_steps || options_.world->size() > 1 || trainer_.part<ReplicaState>().saves_together()) return;
  --run_.local_step_;
  try {
    run_.request_checkpoint(
        {.name = checkpoint_name(run_.global_step_), .saved = [](const std::string& path) {
           log::info("saved " + path + "; once the data are right, --resume auto continues from it");
         }});
    write_requested();
    writer_.finish();
  } catch (const Error& failure) {  // the first error is that of the data
    log::error(failure.what());
  }
}

void Loop::trigger_step() {
  run_phase(HookPhase::kTriggerStep, Hook::kTriggerStep);
  monitors_.end_step();
  save_if_asked();
  writer_.report();
  const bool last = run_.local_step_ + 1 == options_.length.steps_per_epoch;
  if (!last && (trainer_.part<ReplicaState>().saves_together() || !run_.requests_.empty())) write_requested();
}

void Loop::trigger_epoch() {
  writer_.finish();  // so that savers know what became of the last files
  try {
    run_phase(HookPhase::kTriggerEpoch, Hook::kTriggerEpoch);
  } catch (const Error& error) {
    // The steps of the epoch are done, and must not be lost because of bad validation data.
    if (error.kind() == ErrorKind::kData && !trainer_.part<ReplicaState>().saves_together()) {
      undo_phase();
      write_requested();
    }
    throw;
  }
}

/// The hook of all callbacks; if one ends early, the phase counts as not begun.
void Loop::run_phase(HookPhase phase, Hook hook) {
  // A resumed run may have a different next phase when its callbacks are set up.
  if (phase != HookPhase::kBeforeTrain) phase_ = phase;
  if (may_end_early(phase)) keep_state();
  for (const NamedCallback& named : callbacks_)
    phase == HookPhase::kTriggerStep ? call(named, hook) : call_slow(named, hook);
  before_phase_.reset();
  if (phase_ == phase) phase_ = HookPhase::kNone;
}

/// A hook that does not end early: if a callback tries to, it counts as done, and a signal takes effect after
/// the step.
void Loop::each(Hook hook) {
  for (const NamedCallback& named : callbacks_) {
    try {
      call(named, hook);
    } catch (const Stopped&) {
      continue;
    }
  }
}

/// A hook that may take long, while other ranks wait for this one.
void Loop::call_slow(const NamedCallback& named, Hook hook) {
  const ScopedActivity activity(*options_.world, "callback " + named.name);
  call(named, hook);
}

void Loop::call(const NamedCallback& named, Hook hook) {
  try {
    named.callback->call(hook, run_);
  } catch (...) {
    rethrow_for(named);
  }
}

void Loop::leave_if_asked() {
  const RankVote own = run_.stop_reason_                     ? RankVote::kStop
                       : options_.interrupt.stop_requested() ? RankVote::kInterrupt
                                                             : RankVote::kContinue;
  const RankVote all = agree(*options_.world, own);
  if (all == RankVote::kStop)
    throw EndOfRun{StopReason::kStopped, run_.stop_reason_.value_or("another rank stopped the run")};
  if (all == RankVote::kInterrupt) throw EndOfRun{StopReason::kInterrupted, "interrupted"};
}

void Loop::end_before_step(StopReason ending, const std::string& reason) {
  --run_.local_step_;
  throw EndOfRun{ending, reason};
}

int64_t Loop::last_epoch() const {
  return std::min(options_.length.max_epoch, options_.until_epoch.value_or(options_.length.max_epoch));
}

void Loop::open_monitors() {
  monitors_.open({.folder = options_.folder,
                  .starting_epoch = first_epoch_,
                  .global_step = run_.global_step_,
                  .resumed = is_resumed_,
                  .stop = options_.interrupt});
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  for (const auto& [name, text] : options_.texts) monitors_.put_text(name, text);
}

void Loop::end_of_epochs() {
  const bool is_paused = last_epoch() < options_.length.max_epoch;
  if (is_paused) result_.ending = StopReason::kPaused;
  const std::string limit = is_paused ? "--until-epoch" : "max_epoch";
  const std::string last = std::to_string(last_epoch());
  result_.reason = nothing_is_left() ? "nothing left to do: epoch " + std::to_string(first_epoch_ - 1) +
                                           " is done, " + limit + " is " + last
                                     : limit + " " + last + " is done";
}

void Loop::interrupted(const std::string& reason) {
  result_.ending = StopReason::kInterrupted;
  result_.reason = reason;
  if (before_phase_) run_.requests_.resize(before_phase_->requests);
  undo_phase();
  CheckpointRequest request;
  request.name = checkpoint_name(run_.global_step_);
  request.saved = [this](const std::string& path) { result_.reason += ", saved " + path; };
  run_.request_checkpoint(std::move(request));
  write_requested();
  writer_.finish();
}

/// Calls all of them, even if one fails; throws the first failure.
std::exception_ptr Loop::after_train() {
  std::exception_ptr failure;
  const auto failed = [&](const std::string& callback, const std::string& why) {
    log::error("callback " + callback + " failed in after_train: " + why);
    if (!failure) failure = std::current_exception();
  };
  result_.epoch = run_.epoch_ + (!begun_ && first_local_step_ > 0 ? 1 : 0);  // the one to resume from
  result_.global_step = run_.global_step_;
  for (const NamedCallback& named : callbacks_) {
    try {
      named.callback->call(Hook::kAfterTrain, run_);
    } catch (const std::exception& error) {
      failed(named.name, error.what());
    } catch (const Stopped&) {
      log::warning("callback " + named.name + " was interrupted in after_train");
    } catch (...) {
      failed(named.name, "an exception of unknown type");
    }
  }
  monitors_.close();
  return failure;
}

}  // namespace tpack
