#pragma once

#include <memory>
#include <string>

#include "train/callback.h"

namespace tpack {

/// A callback around another one that hands everything on: hooks, state, statistics, ranks. What is derived
/// from it decides when. Source: tensorpack callbacks/base.py, ProxyCallback.
class ProxyCallback : public Callback {
 public:
  void setup(Setup& setup) override { inner_->setup(setup); }
  void compile(Run& run) override { inner_->compile(run); }
  void before_train(Run& run) override { inner_->before_train(run); }
  void before_epoch(Run& run) override { inner_->before_epoch(run); }
  void before_run(Run& run) override { inner_->before_run(run); }
  void after_run(Run& run) override { inner_->after_run(run); }
  void trigger_step(Run& run) override { inner_->trigger_step(run); }
  void after_epoch(Run& run) override { inner_->after_epoch(run); }
  void trigger_epoch(Run& run) override { inner_->trigger_epoch(run); }
  void trigger(Run& run) override { inner_->trigger(run); }
  void after_train(Run& run) override { inner_->after_train(run); }

  std::string identity() const override { return inner_->identity(); }
  bool only_one() const override { return inner_->only_one(); }
  std::vector<std::string> checkpoints() const override { return inner_->checkpoints(); }
  bool chief_only() const override { return inner_->is_for_chief(); }
  void run_on(Ranks ranks) override {
    Callback::run_on(ranks);
    inner_->run_on(ranks);
  }
  const char* why_ranks_are_fixed() const override { return inner_->why_ranks_are_fixed(); }
  const char* why_always() const override { return inner_->why_always(); }
  bool may_end_early(const Run& run, HookPhase phase) const override {
    return inner_->may_end_early(run, phase);
  }
  bool changes_variables() const override { return inner_->changes_variables(); }
  bool sets_hyper_parameter() const override { return inner_->sets_hyper_parameter(); }
  std::vector<std::pair<std::string, Goal>> saves_best_of() const override { return inner_->saves_best_of(); }
  void save(State& state) const override { inner_->save(state); }
  void load(const State& state) override { inner_->load(state); }

 protected:
  /// Errors: ConfigError with all mistakes of the item.
  explicit ProxyCallback(const Slot<Callback>& inner) : inner_(Registry<Callback>::make_item(inner.item)) {}
  Callback& inner() { return *inner_; }
  const Callback& inner() const { return *inner_; }

 private:
  std::unique_ptr<Callback> inner_;
};

/// Hands the hooks of epochs and steps on only while a condition holds; the others always.
/// Source: tensorpack callbacks/trigger.py, EnableCallbackIf.
class GatedCallback : public ProxyCallback {
 public:
  void before_epoch(Run& run) override {
    if (is_enabled(run)) inner().before_epoch(run);
  }
  /// What it decides holds for after_run, too.
  void before_run(Run& run) override {
    runs_ = is_enabled(run);
    if (runs_) inner().before_run(run);
  }
  void after_run(Run& run) override {
    if (runs_) inner().after_run(run);
  }
  void trigger_step(Run& run) override {
    if (is_enabled(run)) inner().trigger_step(run);
  }
  void after_epoch(Run& run) override {
    if (is_enabled(run)) inner().after_epoch(run);
  }
  void trigger_epoch(Run& run) override {
    if (is_enabled(run)) inner().trigger_epoch(run);
  }
  void trigger(Run& run) override {
    if (is_enabled(run)) inner().trigger(run);
  }

 protected:
  /// Errors: ConfigError, also for a callback that has to see each step.
  GatedCallback(const Slot<Callback>& inner, const std::string& who) : ProxyCallback(inner) {
    if (why_always() != nullptr)
      throw ConfigError(inner.item.position(), "callback " + who +
                                                   ": the callback inside has to see each step, " +
                                                   "because " + why_always() + "; list it without " + who);
  }
  virtual bool is_enabled(Run& run) = 0;

 private:
  bool runs_ = false;
};

}  // namespace tpack
