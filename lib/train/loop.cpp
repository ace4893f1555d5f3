#include "train/loop.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "core/clock.h"
#include "core/failure.h"
#include "core/stop.h"
#include "core/text.h"
#include "system/log.h"
#include "train/rank_vote.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

/// Ends the loops for a reason that is no error.
struct EndOfRun {
  StopReason ending;
  std::string reason;
};

/// Where the arrays of a callback's state are in a checkpoint.
std::string arrays_of(const NamedCallback& named) { return layout::kCallbackArrays + named.name + "/"; }

/// Throws the exception that is being handled. One that is not tpack's gets the name of the callback and
/// keeps its exit code.
[[noreturn]] void rethrow_for(const NamedCallback& named) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    const std::string text = "callback " + named.name + ": " + failure.text;
    if (failure.exit_code == static_cast<int>(ErrorKind::kResource)) throw ResourceError(text);
    throw InternalError(text);
  }
}

}  // namespace

StatisticGoals set_up_callbacks(std::vector<NamedCallback>& callbacks, Trainer& trainer, Run& run) {
  std::erase_if(callbacks, [&](const NamedCallback& named) {
    return !run.is_chief() && named.callback->is_for_chief();
  });
  Diagnostics errors;
  ScalarOrder scalars;
  for (const NamedCallback& named : callbacks) {
    try {
      scalars.next_callback("callback " + named.name, named.position);
      Setup setup(trainer, run, scalars);
      named.callback->setup(setup);
    } catch (const ConfigError& error) {
      errors.add(error, named.position);
      scalars.callback_failed();
    } catch (...) {
      rethrow_for(named);
    }
  }
  std::vector<std::string> flows;
  for (const auto& [name, flow] : run.flows()) flows.push_back(name);
  if (run.is_chief()) scalars.check(flows, errors);  // the others have only some of the callbacks
  errors.throw_if_any();
  return scalars.given();
}

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
  scalars_ = set_up_callbacks(callbacks_, trainer_, run_);
  trainer_.compile();
  for (const NamedCallback& named : callbacks_) call_slow(named, &Callback::compile);
  trainer_.initialize();
}

/// A hook of all callbacks.
void Loop::each(Hook hook) {
  for (const NamedCallback& named : callbacks_) call(named, hook);
}

/// A hook that may take long, while other ranks wait for this one.
void Loop::call_slow(const NamedCallback& named, Hook hook) {
  const ScopedActivity busy(*options_.world, "callback " + named.name);
  call(named, hook);
}

void Loop::call(const NamedCallback& named, Hook hook) {
  try {
    (named.callback.get()->*hook)(run_);
  } catch (...) {
    rethrow_for(named);
  }
}

LoopResult Loop::run() {
  try {
    run_to_end();
  } catch (...) {
    log::error("training failed at global_step " + std::to_string(run_.global_step_));
    after_train();  // what else fails is in the log
    throw;
  }
  run_.ended_well_ = result_.ending != StopReason::kInterrupted;
  log::info((run_.ended_well_ ? "training has finished: " : "training was ") + result_.reason);
  const std::exception_ptr failure = after_train();
  write_requested();
  result_.lacks_a_save = writer_.lacks_a_save();
  if (failure) std::rethrow_exception(failure);
  return result_;
}

int64_t Loop::last_epoch() const {
  return std::min(options_.length.max_epoch, options_.until_epoch.value_or(options_.length.max_epoch));
}

void Loop::run_to_end() {
  monitors_.open({.folder = options_.folder,
                  .starting_epoch = first_epoch_,
                  .global_step = run_.global_step_,
                  .resumed = is_resumed_,
                  .stop = options_.interrupt});
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  for (const auto& [name, text] : options_.texts) monitors_.put_text(name, text);
  try {
    before_train();
    write_requested();
    epochs();
    const bool is_paused = last_epoch() < options_.length.max_epoch;
    if (is_paused) result_.ending = StopReason::kPaused;
    const std::string limit = is_paused ? "--until-epoch" : "max_epoch";
    const std::string last = std::to_string(last_epoch());
    result_.reason = nothing_is_left() ? "nothing left to do: epoch " + std::to_string(first_epoch_ - 1) +
                                             " is done, " + limit + " is " + last
                                       : limit + " " + last + " is done";
  } catch (const Stopped&) {  // by a callback
    agree(*options_.world, kInterruptNow);
    interrupted("interrupted");
  } catch (const PeerInterrupted&) {  // by a callback of another rank
    interrupted("interrupted");
  } catch (const EndOfRun& end) {
    result_.ending = end.ending;
    result_.reason = end.reason;
    if (end.ending == StopReason::kInterrupted) interrupted(end.reason);
    if (end.ending == StopReason::kStopped && begun_ && !epoch_done_) monitors_.end_epoch();
  }
}

/// With `Run::resumed` false for a callback that has not begun in any process.
void Loop::before_train() {
  if (!is_resumed_) hook_ = LongHook::kBeforeTrain;
  if (hook_ != LongHook::kBeforeTrain) {
    for (const NamedCallback& named : callbacks_) call_slow(named, &Callback::before_train);
    return;
  }
  if (hook_goes_on_) request_again();
  for (; at_ < callbacks_.size(); ++at_) {
    run_.resumed_ = done_before_.contains(callbacks_[at_].name);
    call_slow(callbacks_[at_], &Callback::before_train);
  }
  run_.resumed_ = is_resumed_;
  end_hook();
}

/// Calls `act` with each callback once, also where the hook was cut short and the run goes on later.
template <class Act>
void Loop::each_once(LongHook hook, const Act& act) {
  if (hook_ != hook) end_hook();
  hook_ = hook;
  // What was saved of this moment lacks what the rest of the hooks changes.
  if (hook_goes_on_) request_again();
  for (; at_ < callbacks_.size(); ++at_) {
    if (!done_before_.contains(callbacks_[at_].name)) act(callbacks_[at_]);
  }
  end_hook();
}

void Loop::end_hook() {
  hook_ = LongHook::kNone;
  hook_goes_on_ = false;
  at_ = 0;
  done_before_.clear();
}

void Loop::epochs() {
  for (int64_t epoch = first_epoch_; epoch <= last_epoch(); ++epoch) {
    if (hook_ == LongHook::kNone) leave_if_asked();  // else a hook was cut short, and goes on first
    run_.epoch_ = epoch;
    if (epoch > first_epoch_) trainer_.before_epoch();
    this->epoch(epoch == first_epoch_ ? first_local_step_ : 0);
  }
  agree(*options_.world, kContinue);  // a hook of the last epoch may have been cut short
}

void Loop::epoch(int64_t first_step) {
  run_.local_step_ = first_step - 1;
  begun_ = true;
  epoch_done_ = false;
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  each(&Callback::before_epoch);
  const EpochStart start{
      .waited_s = trainer_.waited_s(), .samples = trainer_.samples(), .step = run_.global_step_};
  if (hook_ == LongHook::kTriggerStep) trigger_step();
  for (int64_t step = first_step; step < options_.length.steps_per_epoch; ++step) {
    leave_if_asked();
    run_.local_step_ = step;
    one_step();
  }
  each(&Callback::after_epoch);
  report_epoch(start);
  trigger_epoch();
  monitors_.end_epoch();
  epoch_done_ = true;
  write_requested();
}

void Loop::trigger_epoch() {
  each_once(LongHook::kTriggerEpoch, [this](const NamedCallback& named) {
    try {
      call_slow(named, &Callback::trigger_epoch);
    } catch (const Error& error) {
      // The steps of the epoch are done, and are not lost for bad validation data.
      if (error.kind() == ErrorKind::kData && !trainer_.saves_together()) write_requested();
      throw;
    }
  });
}

/// The checkpoints that the interrupted process has written of this step.
void Loop::request_again() {
  run_.request_checkpoint({checkpoint_name(run_.global_step_)});
  if (options_.folder.empty()) return;
  for (const std::string& path : list_other_checkpoints(options_.folder + "/checkpoints")) {
    try {
      if (checkpoint_step(path) != run_.global_step_) continue;
      if (!load_checkpoint_texts(path).texts.contains(layout::kRun)) continue;  // only its callback can
      run_.request_checkpoint({.name = std::filesystem::path(path).filename().string(),
                               .purpose = CheckpointRequest::Purpose::kKeepBest});
    } catch (const CheckpointError& error) {
      log::warning(error.what());
    }
  }
}

void Loop::one_step() {
  before_run();
  if (!step()) {
    end_before_step(StopReason::kEndOfData,
                    trainer_.end_of_data() + " at global_step " + std::to_string(run_.global_step_));
  }
  ++run_.global_step_;
  run_.statistics_of_step();
  monitors_.set_stamp({run_.epoch_, run_.global_step_});
  each(&Callback::after_run);
  trigger_step();
}

void Loop::trigger_step() {
  each_once(LongHook::kTriggerStep,
            [this](const NamedCallback& named) { call(named, &Callback::trigger_step); });
  monitors_.end_step();
  save_if_asked();
  const bool last = run_.local_step_ + 1 == options_.length.steps_per_epoch;
  if (!last && (trainer_.saves_together() || !run_.requests_.empty())) write_requested();
}

/// A scheduler that is about to end a run says so some time before: the run saves, and goes on.
void Loop::save_if_asked() {
  const std::string why = options_.save_request && run_.is_chief() ? options_.save_request() : "";
  if (why.empty()) return;
  log::info(why + ": saving a checkpoint at global_step " + std::to_string(run_.global_step_) +
            "; training goes on");
  run_.request_checkpoint({.name = checkpoint_name(run_.global_step_),
                           .saved = [](const std::string& path) { log::info("saved " + path); }});
}

void Loop::before_run() {
  try {
    each(&Callback::before_run);
  } catch (const Stopped&) {
    // Other ranks count on this one's part of the step; before the next one it tells them.
    if (alone()) end_before_step(StopReason::kInterrupted, "interrupted");
  }
}

bool Loop::step() {
  try {
    return trainer_.step(run_.global_step_, options_.interrupt);
  } catch (const Stopped&) {
    end_before_step(StopReason::kInterrupted, "interrupted before the end of a step");
  } catch (const PeerInterrupted&) {  // of another rank
    end_before_step(StopReason::kInterrupted, "interrupted before the end of a step");
  }
}

void Loop::leave_if_asked() {
  const RankVote own = run_.stop_reason_                     ? kStop
                       : options_.interrupt.stop_requested() ? kInterrupt
                                                             : kContinue;
  const RankVote wish = agree(*options_.world, own);
  if (wish == kStop)
    throw EndOfRun{StopReason::kStopped, run_.stop_reason_.value_or("another rank stopped the run")};
  if (wish == kInterrupt) throw EndOfRun{StopReason::kInterrupted, "interrupted"};
}

void Loop::end_before_step(StopReason ending, const std::string& reason) {
  --run_.local_step_;
  throw EndOfRun{ending, reason};
}

void Loop::interrupted(const std::string& reason) {
  result_.ending = StopReason::kInterrupted;
  result_.reason = reason;
  CheckpointRequest request;
  request.name = checkpoint_name(run_.global_step_);
  request.saved = [this](const std::string& path) { result_.reason += ", saved " + path; };
  run_.request_checkpoint(std::move(request));
  write_requested();
}

/// Whether a rank wants a checkpoint: then the chief has the state of all.
bool Loop::gather(std::vector<CheckpointRequest>& requests) {
  try {
    if (agree(*options_.world, requests.empty() ? kContinue : kSave) == kContinue) return false;
  } catch (const PeerInterrupted&) {
    run_.requests_ = std::move(requests);  // written with the checkpoint of the interrupt
    throw;
  }
  trainer_.gather();
  return true;
}

void Loop::write_requested() {
  std::vector<CheckpointRequest> requests;
  std::swap(requests, run_.requests_);
  if (trainer_.saves_together() && !gather(requests)) return;
  if (requests.empty()) return;
  const ScopedActivity busy(*options_.world, "saving a checkpoint");
  writer_.write(requests, [this] { return checkpoint_content(); });
}

/// Those that have done their part of the hook.
std::vector<std::string> Loop::callbacks_done() const {
  std::set<std::string> done = done_before_;
  for (size_t i = 0; i < at_; ++i) done.insert(callbacks_[i].name);
  return {done.begin(), done.end()};
}

/// The same for the start of an epoch as for the end of the epoch before it: the runs go on alike.
Loop::Place Loop::place() const {
  const Place place = begun_ ? Place{run_.epoch_, run_.local_step_, epoch_done_}
                             : Place{first_epoch_, first_local_step_ - 1, false};
  if (place.local_step >= 0 || options_.length.steps_per_epoch == 0) return place;
  return {.epoch = place.epoch - 1, .local_step = options_.length.steps_per_epoch - 1, .epoch_done = true};
}

CheckpointContent Loop::checkpoint_content() {
  CheckpointContent content;
  const Place place = this->place();
  content.step = run_.global_step_;
  content.epoch = place.epoch;
  State state;
  state.put("epoch", place.epoch);
  state.put("local_step", place.local_step);
  state.put("global_step", run_.global_step_);
  state.put("epoch_done", place.epoch_done);
  state.put("steps_per_epoch", options_.length.steps_per_epoch);
  if (hook_ != LongHook::kNone) {
    state.put("hook", std::string(kLongHookNames[static_cast<size_t>(hook_)]));
    state.put("triggered", join(callbacks_done(), "\n"));
    if (hook_ != LongHook::kBeforeTrain) state.put("last_step", run_.last_step());
    if (run_.stop_reason_) state.put("stop_reason", *run_.stop_reason_);
  }
  content.texts[layout::kRun] = state.to_json();
  content.texts[layout::kHistory] = monitors_.save();
  run_.is_within_hooks_ = hook_ != LongHook::kNone;
  for (const NamedCallback& named : callbacks_) {
    State own;
    named.callback->save(own);
    if (!own.empty()) save_state(own, layout::kCallbacks + named.name, arrays_of(named), content);
  }
  trainer_.save(content);
  if (options_.add_to_checkpoint) options_.add_to_checkpoint(content);
  return content;
}

void Loop::resume(const CheckpointContent& content, const std::string& source) {
  const auto text = [&](const std::string& name) -> const std::string& {
    const auto found = content.texts.find(name);
    if (found == content.texts.end())
      throw CheckpointError(source, "has no '" + name +
                                        "': it has weights only, such as those that SWA averages; to start a "
                                        "run with them, use `init`");
    return found->second;
  };
  const State state = State::from_json(text(layout::kRun), source);
  run_.global_step_ = state.get<int64_t>("global_step");
  const int64_t steps_done = state.get<int64_t>("local_step") + 1;
  const int64_t steps = std::min(state.get<int64_t>("steps_per_epoch"), options_.length.steps_per_epoch);
  // Otherwise an epoch whose steps are done still lacks its last hooks.
  const bool finished = steps_done >= steps && state.get<int64_t>("epoch_done") != 0;
  first_epoch_ = state.get<int64_t>("epoch") + (finished ? 1 : 0);
  first_local_step_ = finished ? 0 : steps_done;
  load_hook(state, steps_done >= options_.length.steps_per_epoch && !finished);
  run_.epoch_ = first_epoch_ - 1;
  trainer_.load(content, source);
  monitors_.load(text(layout::kHistory), source);
  load_callbacks(content, source);
  run_.resumed_ = true;
  is_resumed_ = true;
}

/// Where a hook was cut short. `epoch_ends`: all steps of the epoch are done, its last hooks are not.
void Loop::load_hook(const State& state, bool epoch_ends) {
  // Older checkpoints have callbacks of trigger_epoch only.
  const auto hook = state.get<std::string>("hook", kLongHookNames.back());
  for (size_t i = 0; i < kLongHookNames.size(); ++i) {
    if (hook == kLongHookNames[i]) hook_ = static_cast<LongHook>(i);
  }
  if (hook_ == LongHook::kTriggerEpoch && !epoch_ends) hook_ = LongHook::kNone;
  if (hook_ == LongHook::kNone) return;
  hook_goes_on_ = state.has("hook");
  if (const State last_step = state.part("last_step"); !last_step.empty()) run_.take_last_step(last_step);
  if (state.has("stop_reason")) run_.request_stop(state.get<std::string>("stop_reason"));
  for (const std::string& name : split(state.get<std::string>("triggered", ""), '\n')) {
    if (!name.empty()) done_before_.insert(name);
  }
}

/// A callback that the checkpoint does not know is as new.
void Loop::load_callbacks(const CheckpointContent& content, const std::string& source) {
  std::set<std::string> known;
  for (const NamedCallback& named : callbacks_) {
    const std::string entry = layout::kCallbacks + named.name;
    known.insert(entry);
    if (const auto state = load_state(content, source, entry, arrays_of(named))) named.callback->load(*state);
  }
  if (!run_.is_chief()) return;  // others have only some of the callbacks
  for (auto entry = content.texts.lower_bound(layout::kCallbacks); entry != content.texts.end(); ++entry) {
    if (!entry->first.starts_with(layout::kCallbacks)) break;
    if (known.contains(entry->first)) continue;
    log::warning(source + " has the state of callback " + entry->first.substr(layout::kCallbacks.size()) +
                 ", which this run does not have; it is ignored");
  }
}

/// All of them, also if one fails; the first failure.
std::exception_ptr Loop::after_train() {
  std::exception_ptr failure;
  const auto failed = [&](const std::string& callback, const std::string& why) {
    log::error("callback " + callback + " failed in after_train: " + why);
    if (!failure) failure = std::current_exception();
  };
  result_.epoch = run_.epoch_ + (!begun_ && first_local_step_ > 0 ? 1 : 0);  // the one that would go on
  result_.global_step = run_.global_step_;
  for (const NamedCallback& named : callbacks_) {
    try {
      named.callback->after_train(run_);
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
