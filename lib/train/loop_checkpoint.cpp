// The loop's entries in checkpoints, and when checkpoints are written.
#include <algorithm>
#include <set>

#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "system/log.h"
#include "train/loop.h"
#include "train/rank_vote.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

/// The place of the arrays of a callback's state in a checkpoint.
std::string arrays_of(const NamedCallback& named) { return layout::kCallbackArrays + named.name + "/"; }

}  // namespace

bool Loop::may_end_early(HookPhase phase) const {
  return std::any_of(callbacks_.begin(), callbacks_.end(),
                     [&](const NamedCallback& named) { return named.callback->ends_early(run_, phase); });
}

/// Everything that callbacks may change.
void Loop::keep_state() {
  BeforePhase before{
      .callbacks = callbacks_content(), .stop_reason = run_.stop_reason_, .requests = run_.requests_.size()};
  for (const std::string& name : trainer_.part<TrainedVariables>().hyper_parameters())
    before.hyper_parameters[name] = trainer_.part<TrainedVariables>().hyper_parameter(name);
  const bool change = std::any_of(callbacks_.begin(), callbacks_.end(), [](const NamedCallback& named) {
    return named.callback->rules().changes_variables;
  });
  if (change) {
    for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
      for (const auto& [name, value] : run_.variables(scope)) before.variables[name] = value.clone();
    }
  }
  monitors_.begin_phase();
  before_phase_ = std::move(before);
}

void Loop::undo_phase() {
  if (!before_phase_) return;
  run_.stop_reason_ = before_phase_->stop_reason;
  for (const auto& [name, value] : before_phase_->hyper_parameters) {
    if (trainer_.part<TrainedVariables>().hyper_parameter(name) != value)
      trainer_.part<TrainedVariables>().set_hyper_parameter(name, value);
  }
  for (const auto& [name, value] : before_phase_->variables) run_.store().set(name, value);
  monitors_.undo_phase();
}

/// The same for the start of an epoch and the end of the previous epoch, because the runs continue in the
/// same way.
Loop::Place Loop::place() const {
  const Place place = begun_ ? Place{run_.epoch_, run_.local_step_, epoch_done_}
                             : Place{first_epoch_, first_local_step_ - 1, false};
  if (place.local_step >= 0 || options_.length.steps_per_epoch == 0) return place;
  return {.epoch = place.epoch - 1, .local_step = options_.length.steps_per_epoch - 1, .epoch_done = true};
}

CheckpointContent Loop::callbacks_content() {
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
  if (run_.schedule_offset_ != 0) state.put("schedule_offset", run_.schedule_offset_);
  if (!run_.asked_for_.empty())
    state.put("asked_for", std::vector<double>(run_.asked_for_.begin(), run_.asked_for_.end()));
  if (phase_ != HookPhase::kNone) {
    state.put("hook", std::string(kHookPhaseNames[static_cast<size_t>(phase_)]));
    if (phase_ != HookPhase::kBeforeTrain) state.put("last_step", run_.last_step());
    if (run_.stop_reason_) state.put("stop_reason", *run_.stop_reason_);
  }
  content.texts[layout::kRun] = state.to_json();
  run_.is_before_phase_ = phase_ != HookPhase::kNone;
  for (const NamedCallback& named : callbacks_) {
    State own;
    named.callback->save(own);
    if (!own.empty()) save_state(own, layout::kCallbacks + named.name, arrays_of(named), content);
  }
  run_.is_before_phase_ = false;
  return content;
}

CheckpointContent Loop::checkpoint_content() {
  CheckpointContent content = before_phase_ ? before_phase_->callbacks : callbacks_content();
  content.texts[layout::kHistory] = monitors_.save();
  trainer_.save(content);
  if (options_.add_to_checkpoint) options_.add_to_checkpoint(content);
  return content;
}

/// Whether a rank wants a checkpoint: then the chief has the state of all.
bool Loop::gather(std::vector<CheckpointRequest>& requests) {
  try {
    const RankVote own = requests.empty() ? RankVote::kContinue : RankVote::kSave;
    if (agree(*options_.world, own) == RankVote::kContinue) return false;
  } catch (const PeerInterrupted&) {
    run_.requests_ = std::move(requests);  // written with the checkpoint of the interrupt
    throw;
  }
  trainer_.part<ReplicaState>().gather();
  return true;
}

void Loop::write_requested() {
  std::vector<CheckpointRequest> requests;
  std::swap(requests, run_.requests_);
  if (trainer_.part<ReplicaState>().saves_together() && !gather(requests)) return;
  if (requests.empty()) return;
  const ScopedActivity activity(*options_.world, "saving a checkpoint");
  writer_.write(std::move(requests), [this] { return checkpoint_content(); });
}

/// A job scheduler announces the end of a run some time before: the run saves and continues.
void Loop::save_if_asked() {
  const std::string why = options_.save_request && run_.is_chief() ? options_.save_request() : "";
  if (why.empty()) return;
  log::info(why + ": saving a checkpoint at global_step " + std::to_string(run_.global_step_) +
            "; training continues");
  run_.asked_for_.insert(run_.global_step_);
  run_.request_checkpoint({.name = checkpoint_name(run_.global_step_),
                           .saved = [](const std::string& path) { log::info("saved " + path); }});
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
  run_.global_step_ = state.count("global_step");
  const int64_t steps_done = state.count("local_step", State::kMostSteps, -1) + 1;
  const int64_t steps = std::min(state.count("steps_per_epoch"), options_.length.steps_per_epoch);
  // Otherwise the steps of the epoch are done, but not its last hooks.
  const bool finished = steps_done >= steps && state.get<int64_t>("epoch_done") != 0;
  first_epoch_ = state.count("epoch", State::kMostPasses) + (finished ? 1 : 0);
  first_local_step_ = finished ? 0 : steps_done;
  run_.schedule_offset_ = state.get<int64_t>("schedule_offset", 0);
  for (const double step : state.get("asked_for", std::vector<double>()))
    run_.asked_for_.insert(static_cast<int64_t>(step));
  if (const auto before = state.get<int64_t>("steps_per_epoch"); finished && before > 0)
    run_.schedule_offset_ =
        run_.schedule_step() / before * options_.length.steps_per_epoch - run_.global_step_;
  load_phase(state, steps_done >= options_.length.steps_per_epoch && !finished);
  run_.epoch_ = first_epoch_ - 1;
  trainer_.load(content, source);
  monitors_.load(text(layout::kHistory), source);
  load_callbacks(content, source);
  is_resumed_ = true;
}

/// The interrupted phase. `epoch_ends`: all steps of the epoch are done, its last hooks are not.
void Loop::load_phase(const State& state, bool epoch_ends) {
  const auto hook = state.get<std::string>("hook", "");
  for (size_t i = 0; i < kHookPhaseNames.size(); ++i) {
    if (hook == kHookPhaseNames[i]) phase_ = static_cast<HookPhase>(i);
  }
  if (phase_ == HookPhase::kTriggerEpoch && !epoch_ends) phase_ = HookPhase::kNone;
  if (phase_ == HookPhase::kNone) return;
  if (const State last_step = state.part("last_step"); !last_step.empty()) run_.take_last_step(last_step);
  if (state.has("stop_reason")) run_.request_stop(state.get<std::string>("stop_reason"));
}

/// A callback without state in the checkpoint starts as new.
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

}  // namespace tpack
