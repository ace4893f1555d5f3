#include "callbacks/averaged_weights.h"

#include <algorithm>

#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Sets the variables of the model to other values during its lifetime.
class BorrowedWeights {
 public:
  BorrowedWeights(Run& run, const std::map<std::string, Tensor>& values) : run_(run) {
    for (const auto& [name, value] : run.variables(VariableScope::kModel)) before_[name] = value.clone();
    for (const auto& [name, value] : values) run_.store().set(name, value);
  }
  ~BorrowedWeights() {
    for (const auto& [name, value] : before_) run_.store().set(name, value);
  }
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Run& run_;
  std::map<std::string, Tensor> before_;
};

/// A file of these weights is for inference, not resuming: the optimizer state belongs to other weights.
void put(const WeightAverage& average, CheckpointContent& content) {
  for (const auto& [name, value] : average.values()) content.tensors[layout::kModel + name] = value;
  std::erase_if(content.tensors, [](const auto& entry) { return !entry.first.starts_with(layout::kModel); });
  content.texts.erase(layout::kRun);
}

}  // namespace

AveragedWeights::AveragedWeights(const char* name, const char* file, const char* no_every,
                                 const std::vector<Slot<Callback>>& callbacks)
    : Callback({.only_one = true,
                .ranks_are_fixed = "the weights are the same on all ranks",
                .no_every = no_every}),
      name_(name),
      file_(file) {
  Diagnostics errors;
  CallbackList list;
  for (const Slot<Callback>& slot : callbacks) list.add(slot, errors);
  inner_ = list.take();
  for (const NamedCallback& named : inner_) take_in(named, errors);
  errors.throw_if_any();
}

/// Only the chief has the weights that its callbacks see.
void AveragedWeights::take_in(const NamedCallback& named, Diagnostics& errors) {
  Callback& callback = *named.callback;
  const std::vector<std::string> files = checkpoints_of(callback);
  const std::string who = std::string("callback ") + name_;
  if (!callback.is_for_chief() && (callback.rules().ranks_are_fixed != nullptr || callback.ranks()))
    errors.add(named.position, who + ": its callbacks run only on the chief, which this one cannot");
  if (std::find(files.begin(), files.end(), kCheckpointNames) != files.end())
    errors.add(named.position,
               who + ": a run cannot resume from averaged weights, so ModelSaver cannot be inside " + name_ +
                   "; list it after " + name_);
  callback.run_on(Ranks::kChief);
  for (const HookPhase phase : callback.rules().may_end_early) may_end_early_in(phase);
}

std::vector<std::string> AveragedWeights::checkpoints() const {
  std::vector<std::string> files = {file_};
  for (const NamedCallback& named : inner_) {
    const std::vector<std::string> own = checkpoints_of(*named.callback);
    files.insert(files.end(), own.begin(), own.end());
  }
  return files;
}

void AveragedWeights::setup(Setup& setup) {
  Setup own = setup.after_epochs_only(
      std::string("callback ") + name_ +
      " triggers its callbacks after epochs; one of them should be triggered after steps or before training");
  for (const NamedCallback& named : inner_) named.callback->set_up(own);
}

void AveragedWeights::each(Hook hook, Run& run) {
  for (const NamedCallback& named : inner_) named.callback->call(hook, run);
}

void AveragedWeights::show(Run& run, const std::string& what) {
  // Files are written later.
  const auto change = [average = average_](CheckpointContent& content) { put(average, content); };
  {
    const BorrowedWeights borrowed(run, average_.values());
    run.borrow_weights(what + ", " + file_);
    run.with_change(change, [&] { each(Hook::kTriggerEpoch, run); });
    run.borrow_weights("");
  }
  run.request_checkpoint({.name = file_,
                          .purpose = CheckpointRequest::Purpose::kKeepBest,
                          .saved = [](const std::string& path) { log::info("saved " + path); },
                          .change = change});
}

std::vector<std::pair<std::string, Goal>> AveragedWeights::saves_best_of() const {
  std::vector<std::pair<std::string, Goal>> all;
  for (const NamedCallback& named : inner_)
    for (auto& one : tpack::saves_best_of(*named.callback)) all.push_back(std::move(one));
  return all;
}

void AveragedWeights::save(State& state) const {
  State average;
  average_.save(average);
  state.put("average", average);
  for (const NamedCallback& named : inner_) {
    State own;
    named.callback->save(own);
    state.put(named.name, own);
  }
}

void AveragedWeights::load(const State& state) {
  average_.load(state.part("average"));
  for (const NamedCallback& named : inner_) {
    const State own = state.part(named.name);
    if (!own.empty()) named.callback->load(own);
  }
}

}  // namespace tpack
