#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "tensor/state.h"
#include "train/every.h"
#include "train/hook.h"
#include "train/run.h"
#include "train/run_formula.h"
#include "train/scalar_order.h"

namespace tpack {

/// The processes of a run that a callback runs on.
enum class Ranks : uint8_t { kChief, kAll };
template <>
struct EnumNames<Ranks> {
  static constexpr std::array<std::pair<const char*, Ranks>, 2> kNames = {
      {{"chief", Ranks::kChief}, {"all", Ranks::kAll}}};
};

/// What a callback can read and request before the programs are compiled.
class Setup {
 public:
  Setup(Run& run, ScalarOrder& scalars) : run_(run), scalars_(scalars) {}

  /// Number of a statistic, for Run::statistic. Errors: ConfigError with a suggestion if the step does not
  /// have it.
  size_t statistic(const Ref<Stat>& name) const;
  /// The model's variables, with moving averages, by name. Their values are available from `before_train` on
  /// (Run::store). Errors: ConfigError if the trainer has no model.
  std::map<std::string, TensorSpec> variables() const;
  /// The variables that match a pattern. Errors: ConfigError with each pattern without a match, at its
  /// position, with the nearest name.
  std::map<std::string, TensorSpec> variables(const std::vector<Ref<VariablePattern>>& patterns) const;
  /// The same for variables that the updates train: they have gradients ("@gradient/NAME" in Run::store).
  std::map<std::string, TensorSpec> trained_variables(
      const std::vector<Ref<VariablePattern>>& patterns) const;
  /// Declares a scalar that this callback will send to the monitors, and which of its values are better.
  void provides(const std::string& name, ScalarOrder::When when = ScalarOrder::When::kTrigger,
                std::optional<Goal> goal = {}) {
    scalars_.provides(name, when, triggered_, goal);
  }
  /// Declares that this callback, `who` for messages, needs a scalar when it is triggered. This is checked,
  /// with position, after all callbacks are set up.
  void needs(const Ref<Stat>& name, const std::string& who) {
    scalars_.needs({.scalar = name, .who = who, .triggered = triggered_});
  }
  /// As above, for a callback that compares its values.
  void needs_goal(const Ref<Stat>& name, const std::string& who, ScalarOrder::GoalUse goal) {
    scalars_.needs({.scalar = name, .who = who, .triggered = triggered_, .goal = std::move(goal)});
  }
  /// As above, for a name in a formula, which may also be one of `others`.
  void needs_in_formula(const Ref<Stat>& name, const std::string& who, std::vector<std::string> others) {
    scalars_.needs({name, who, triggered_, true, std::move(others)});
  }
  /// For a callback with a `trigger` that another one calls. Errors: ConfigError if it may be called after
  /// steps, but `after_epochs_only` forbids it.
  Setup triggered(ScalarOrder::Triggered when) const {
    if (!after_epochs_only_.empty() && when != ScalarOrder::Triggered::kAfterEpochs)
      throw ConfigError(after_epochs_only_);
    Setup setup = *this;
    setup.triggered_ = when;
    return setup;
  }
  /// For a callback that triggers another one before the first step. Errors: ConfigError if
  /// `after_epochs_only` forbids it.
  void require_trigger_before_train() const {
    if (!after_epochs_only_.empty()) throw ConfigError(after_epochs_only_);
  }
  /// For callbacks that may only be triggered after epochs, because `why`.
  Setup after_epochs_only(const std::string& why) const {
    Setup setup = *this;
    setup.after_epochs_only_ = why;
    return setup;
  }
  Run& run() const { return run_; }

 private:
  Run& run_;
  ScalarOrder& scalars_;
  ScalarOrder::Triggered triggered_ = ScalarOrder::Triggered::kAfterEpochs;
  std::string after_epochs_only_;
};

/// The fixed properties of a callback. A reason completes a message: "... because it reports updates that
/// were not applied"; null: the config may choose.
struct CallbackRules {
  /// Distinguishes it from others of its type, for example by the statistic that it watches: its state in
  /// checkpoints is found by type and identity, so that a resumed run may have other callbacks before it.
  /// Letters, digits, '_', '-' and '.' are kept; "" if one per type is enough.
  std::string identity = {};
  bool only_one = false;  // whether a second one with the same identity would undo the work of the first one
  /// Where it runs unless the config sets `ranks`.
  Ranks ranks = Ranks::kChief;
  const char* ranks_are_fixed = nullptr;  // why `ranks` in the config may not differ from these
  const char* always = nullptr;           // why it must see each step and epoch, so that `when` is an error
  const char* untimed = nullptr;          // why `every` and `when` would have no effect
  const char* no_every = nullptr;         // why only `every` would have no effect
  bool changes_variables = false;         // whether its hooks write to variables
  /// The hooks that may take long and throw Stopped (Run::stop_token).
  std::vector<HookPhase> may_end_early = {};
};

/// The names of references as one text, for an identity.
template <class Tag>
std::string joined_names(const std::vector<Ref<Tag>>& references) {
  std::string all;
  for (const Ref<Tag>& one : references) all += (all.empty() ? "" : "-") + one.name;
  return all;
}

/// Everything that is not the step itself. Hooks are called in the order of the list (see the loop in
/// docs/concepts.md), when `every` and `when` allow it. Threads: the training thread. Source: tensorpack
/// callbacks/base.py; `every` and `when`: callbacks/trigger.py.
class Callback {
 public:
  static constexpr const char* kKind = "callback";
  explicit Callback(CallbackRules rules = {}) : rules_(std::move(rules)) {}
  virtual ~Callback() = default;

  /// Before the programs are compiled.
  virtual void setup(Setup& setup) { (void)setup; }
  /// After the trainer has compiled: compiles the programs that it will run, so that their choices are in the
  /// plan and their memory is counted before the first step.
  virtual void compile(Run& run) { (void)run; }
  virtual void before_train(Run& run) { (void)run; }
  /// Must be fast.
  virtual void before_epoch(Run& run) { (void)run; }
  virtual void before_run(Run& run) { (void)run; }
  /// Right after a step; global_step is the new one.
  virtual void after_run(Run& run) { (void)run; }
  /// After after_run of all callbacks.
  virtual void trigger_step(Run& run) { (void)run; }
  /// Included in the epoch's time; must be fast.
  virtual void after_epoch(Run& run) { (void)run; }
  /// Not included in the epoch's time. Most callbacks do their work in `trigger`, which it calls.
  virtual void trigger_epoch(Run& run) { trigger(run); }
  virtual void trigger(Run& run) { (void)run; }
  /// Always, also after an error.
  virtual void after_train(Run& run) { (void)run; }

  /// Saves its state in a checkpoint. Only on the chief: between hooks, and before a phase in which a
  /// callback may end early. The saved tensors must not be written to later.
  virtual void save(State& state) const { (void)state; }
  /// Loads the state when a run is resumed: after `setup` and `compile`, before `before_train`; the trainer
  /// has loaded its variables. On each rank that it runs on; not called if the checkpoint has no state of it.
  virtual void load(const State& state) { (void)state; }

  const CallbackRules& rules() const { return rules_; }

  /// The parameters that every callback has.
  struct Common {
    std::optional<Ranks> ranks;
    std::optional<Every> every;
    Formula when;
  };
  static Schema<Common> common_schema();
  /// A callback item of a config with additional common parameters: its own `when` must also be true. Errors:
  /// ConfigError if the item already has `every` or `ranks`.
  static ConfigNode with_common(const ConfigNode& item, const ConfigNode& common);
  /// Errors: ConfigError if its rules forbid these ranks or times.
  void take(const Common& common);

  /// Runs its hooks when `every` and `when` allow it: the owner of the callback calls these two and
  /// `ends_early`. Errors: ConfigError.
  void set_up(Setup& setup);
  void call(Hook hook, Run& run);
  /// Whether the next `call` of this phase may throw Stopped.
  bool ends_early(const Run& run, HookPhase phase) const;

  /// Sets the ranks that run it. Before `setup`.
  void run_on(Ranks ranks) { ranks_ = ranks; }
  /// `ranks` of the config, or of the callback that contains it.
  std::optional<Ranks> ranks() const { return ranks_; }
  bool is_for_chief() const { return ranks_.value_or(rules_.ranks) == Ranks::kChief; }

  /// Called for each callback that the registry makes.
  template <class Class>
  static void registered(Class& made) {
    static_cast<Callback&>(made).has_trigger_ =
        !std::is_same_v<decltype(&Class::trigger), void (Callback::*)(Run&)>;
  }

 protected:
  /// Whether the config sets `every` or `when`.
  bool is_timed() const { return every_.has_value() || condition_.has_value(); }
  /// Adds a phase to CallbackRules::may_end_early, for callbacks that contain others.
  void may_end_early_in(HookPhase phase) { rules_.may_end_early.push_back(phase); }

 private:
  void trigger_every(const Every& every);
  void call_when(const Formula& condition);
  bool may_end_early(HookPhase phase) const;
  bool holds(Run& run);
  void call_after_step(Run& run);

  CallbackRules rules_;
  std::optional<Ranks> ranks_;
  std::optional<Every> every_;
  std::optional<RunFormula> condition_;
  bool runs_ = true;  // before_run decides for after_run, too
  bool has_trigger_ = true;
};

/// Additional base class of callbacks that write checkpoints.
class CheckpointWriting {
 public:
  virtual ~CheckpointWriting() = default;
  /// The files that it writes to the run's folder `checkpoints`; `model-*.h5` are those to resume from.
  virtual std::vector<std::string> checkpoints() const = 0;
  /// The statistics whose best values determine the weights that it keeps, and which values are better.
  virtual std::vector<std::pair<std::string, Goal>> saves_best_of() const { return {}; }
};
/// The results of these functions for a callback; empty if it does not write checkpoints.
std::vector<std::string> checkpoints_of(const Callback& callback);
std::vector<std::pair<std::string, Goal>> saves_best_of(const Callback& callback);

}  // namespace tpack
