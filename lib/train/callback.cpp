#include "train/callback.h"

#include <algorithm>

#include "graph/variable_pattern.h"
#include "system/log.h"

namespace tpack {
namespace {

using Specs = std::map<std::string, TensorSpec>;

Specs matching(const Specs& all, const std::vector<Ref<VariablePattern>>& patterns, const std::string& what) {
  std::vector<std::string> known;
  Specs found;
  for (const auto& [name, spec] : all) {
    known.push_back(name);
    if (is_for_variable(patterns, name)) found.emplace(name, spec);
  }
  Diagnostics errors;
  check_patterns(patterns, known, what, errors);
  errors.throw_if_any();
  return found;
}

const VariableTable& table_of(const Run& run) {
  const auto model = run.part<TrainedModel>().model_handle();
  if (!model) throw ConfigError("this trainer has no model, so there are no variables to name");
  return *model->table;
}

}  // namespace

Schema<Callback::Common> Callback::common_schema() {
  return Schema<Common>("Parameters of every callback.")
      .field("ranks", &Common::ranks,
             "processes that run it: chief (rank 0), or all; default: see docs/callbacks.md")
      .field("every", &Common::every,
             "how often it is triggered, instead of after each epoch; its hooks before and after steps run "
             "as usual")
      .field("when", &Common::when,
             "a condition, such as epoch > 10: its hooks in epochs and steps run only if it is true. Names: "
             "epoch, step (the number of steps done), local_step, max_epoch, steps_per_epoch, "
             "hyper-parameters and the newest values of statistics (validation_cost < 0.5); it is false "
             "before these have values");
}

ConfigNode Callback::with_common(const ConfigNode& item, const ConfigNode& common) {
  const ComponentItem callback = component_item(item, kKind);
  const ComponentInfo& info = Registry<Callback>::table().at(callback.name, callback.position);
  ConfigNode params = callback.params.is_null() ? ConfigNode::map({}, callback.position) : callback.params;
  for (const FieldInfo& field : info.fields()) {
    if (field.shorthand && !params.is_map())
      params = ConfigNode::map({{field.name, params, params.position()}}, params.position());
  }
  for (const auto& [name, value, position] : common.entries()) {
    const ConfigNode* own = params.find(name);
    if (own != nullptr && name != "when")
      throw ConfigError(own->position(),
                        "'" + name + "' is set twice: here, and by the wrapper of the callback");
    params = params.with(
        name, own == nullptr
                  ? value
                  : ConfigNode::string("(" + own->text() + ") and (" + value.text() + ")", own->position()));
  }
  return ConfigNode::map({{callback.name, params, callback.position}}, item.position());
}

void Callback::take(const Common& common) {
  if (common.ranks && rules_.ranks_are_fixed != nullptr && *common.ranks != rules_.ranks)
    throw ConfigError("'ranks' must be " + std::string(rules_.ranks == Ranks::kChief ? "chief" : "all") +
                      ": " + rules_.ranks_are_fixed);
  if (common.ranks) run_on(*common.ranks);
  if (common.every) trigger_every(*common.every);
  if (!common.when.empty()) call_when(common.when);
}

void Callback::trigger_every(const Every& every) {
  const char* why_not = rules_.untimed != nullptr ? rules_.untimed : rules_.no_every;
  if (why_not != nullptr) throw ConfigError(every.position, std::string("'every': ") + why_not);
  if (!has_trigger_) {
    throw ConfigError(every.position,
                      "the callback does nothing when it is triggered, so 'every' has no effect; with `when: "
                      "step % 100 == 0`, its hooks run only in these steps");
  }
  every_ = every;
}

void Callback::call_when(const Formula& condition) {
  if (rules_.always != nullptr) {
    throw ConfigError(condition.position(), std::string("'when': the callback must see each step, because ") +
                                                rules_.always + "; remove the condition");
  }
  if (rules_.untimed != nullptr)
    throw ConfigError(condition.position(), std::string("'when': ") + rules_.untimed);
  condition_.emplace(condition, "'when'");
}

bool Callback::may_end_early(HookPhase phase) const {
  return std::find(rules_.may_end_early.begin(), rules_.may_end_early.end(), phase) !=
         rules_.may_end_early.end();
}

std::vector<std::string> checkpoints_of(const Callback& callback) {
  const auto* writing = dynamic_cast<const CheckpointWriting*>(&callback);
  return writing != nullptr ? writing->checkpoints() : std::vector<std::string>();
}

std::vector<std::pair<std::string, Goal>> saves_best_of(const Callback& callback) {
  const auto* writing = dynamic_cast<const CheckpointWriting*>(&callback);
  return writing != nullptr ? writing->saves_best_of() : std::vector<std::pair<std::string, Goal>>();
}

void Callback::set_up(Setup& setup) {
  if (condition_) condition_->setup(setup, Expression::Result::kTruth);
  if (!every_) return this->setup(setup);
  using Triggered = ScalarOrder::Triggered;
  const RunLength& length = setup.run().length();
  every_->check(length);
  if (every_->before_train) setup.require_trigger_before_train();
  Setup own = setup.triggered(!every_->has_steps()    ? Triggered::kAfterEpochs
                              : !every_->has_epochs() ? Triggered::kAfterSteps
                                                      : Triggered::kAfterBoth);
  this->setup(own);
  if (!every_->before_train && !every_->is_ever_due(length))
    log::warning(every_->position.str() + ": 'every' has no effect: the run ends before it triggers");
}

void Callback::call(Hook hook, Run& run) {
  switch (hook) {
    case Hook::kCompile:
      return compile(run);
    case Hook::kBeforeTrain:
      before_train(run);
      if (every_ && every_->before_train && !run.resumed()) trigger(run);
      return;
    case Hook::kBeforeEpoch:
      if (holds(run)) before_epoch(run);
      return;
    case Hook::kBeforeRun:
      runs_ = holds(run);
      if (runs_) before_run(run);
      return;
    case Hook::kAfterRun:
      if (runs_) after_run(run);
      return;
    case Hook::kTriggerStep:
      if (holds(run)) call_after_step(run);
      return;
    case Hook::kAfterEpoch:
      if (holds(run)) after_epoch(run);
      return;
    case Hook::kTriggerEpoch:
      if (!holds(run)) return;
      if (!every_)
        trigger_epoch(run);
      else if (every_->is_due_after_epoch(run))
        trigger(run);
      return;
    case Hook::kAfterTrain:
      return after_train(run);
  }
}

void Callback::call_after_step(Run& run) {
  trigger_step(run);
  if (every_ && every_->is_due_after_step(run))
    run.while_busy("a callback with 'every'", [&] { trigger(run); });
}

/// Only the chief has all statistics.
bool Callback::holds(Run& run) {
  if (!condition_) return true;
  if (!condition_->uses_statistics() || is_for_chief()) return condition_->holds(run);
  return run.of_chief(run.is_chief() && condition_->holds(run) ? 1 : 0) != 0;
}

bool Callback::ends_early(const Run& run, HookPhase phase) const {
  if (!every_) return may_end_early(phase);
  const bool triggers = phase == HookPhase::kBeforeTrain   ? every_->before_train && !run.resumed()
                        : phase == HookPhase::kTriggerStep ? every_->is_due_after_step(run)
                                                           : every_->is_due_after_epoch(run);
  return (triggers && may_end_early(HookPhase::kTriggerEpoch)) ||
         (phase != HookPhase::kTriggerEpoch && may_end_early(phase));
}

Specs Setup::variables() const {
  const VariableTable& table = table_of(run_);
  Specs all;
  for (const std::string& name : saved_names(table, VariableScope::kModel))
    all.emplace(name, table.find(name)->spec);
  return all;
}

Specs Setup::variables(const std::vector<Ref<VariablePattern>>& patterns) const {
  return patterns.empty() ? Specs() : matching(variables(), patterns, "variable");
}

Specs Setup::trained_variables(const std::vector<Ref<VariablePattern>>& patterns) const {
  if (patterns.empty()) return {};
  const VariableTable& table = table_of(run_);
  Specs trained;
  for (const ParameterGroup& group : table.groups()) {
    for (const std::string& name : group.variables) trained.emplace(name, table.find(name)->spec);
  }
  return matching(trained, patterns, "trained variable");
}

size_t Setup::statistic(const Ref<Stat>& name) const {
  std::vector<std::string> known;
  for (const StepStatistic& own : run_.part<StepStatistics>().statistics()) known.push_back(own.name);
  const auto found = std::find(known.begin(), known.end(), name.name);
  if (found == known.end())
    throw unknown_reference("statistic of the training step", name.name, name.position, known);
  return static_cast<size_t>(found - known.begin());
}

}  // namespace tpack
