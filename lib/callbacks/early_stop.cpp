#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "core/text.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct EarlyStopParams {
  Ref<Stat> monitor;
  std::optional<Goal> mode;
  int64_t patience = 5;
  double min_delta = 0;
  bool restore_best = false;
};

constexpr const char* kEarlyStop = "callback EarlyStop";

/// Source: Keras, EarlyStopping.
class EarlyStop final : public Callback {
 public:
  using Params = EarlyStopParams;
  static Schema<Params> schema() {
    return Schema<Params>("Ends the run if a statistic does not improve for some time.")
        .example("EarlyStop: {monitor: validation_cost, patience: 3}")
        .field("monitor", &Params::monitor,
               "the statistic; a step or a callback earlier in the list must report it")
        .required()
        .field("mode", &Params::mode,
               "min: lower values are better, max: higher ones; default: the direction of the statistic, "
               "which is known for costs and for metrics of success or error")
        .field("patience", &Params::patience, at_least(1),
               "number of values (usually one per epoch) without an improvement after which the run ends")
        .field("min_delta", &Params::min_delta, at_least(0), "smaller improvements do not count")
        .field("restore_best", &Params::restore_best,
               "true: when it ends the run, and at the end of max_epoch, restores the weights of the best "
               "value, before the last checkpoint; they are kept in memory and in checkpoints. MinSaver and "
               "MaxSaver write them to a separate file");
  }
  explicit EarlyStop(Params p)
      : Callback({.identity = p.monitor.name, .changes_variables = p.restore_best}), p_(std::move(p)) {}

  void setup(Setup& setup) override {
    const std::string asked = p_.mode ? goal_name(*p_.mode) : "";
    setup.needs_goal(p_.monitor, kEarlyStop,
                     {.asked = p_.mode,
                      .if_opposite = "remove 'mode: " + asked + "'",
                      .if_unknown = "write mode: min or mode: max",
                      .use = [this](Goal goal) { goal_ = goal; }});
  }
  /// A resumed run that had ended for this reason ends again, unless the patience was raised.
  void before_train(Run& run) override {
    if (run.resumed()) stop_if_due(run);
    if (run.resumed() && is_restored_) run.restored(best_step_);
  }
  void trigger(Run& run) override {
    const Monitors::History& history = run.monitors().get_history(p_.monitor.name);
    if (history.empty() || history.back().first == last_step_) return;
    const double value = history.back().second;
    last_step_ = history.back().first;
    if (is_better(value)) {
      best_ = value;
      best_step_ = last_step_;
      without_ = 0;
      is_restored_ = false;
      keep_weights(run);
    } else {
      ++without_;
    }
    stop_if_due(run);
    const bool is_last = without_ >= p_.patience || run.global_step() >= run.length().steps();
    if (p_.restore_best && is_last && best_ && best_step_ != last_step_) restore(run);
  }
  void save(State& state) const override {
    state.put("last_step", last_step_);
    state.put("without", without_);
    if (!best_) return;
    state.put("best", *best_);
    state.put("best_step", best_step_);
    state.put("is_restored", int64_t{is_restored_ ? 1 : 0});
    State weights;
    for (const auto& [name, value] : weights_) weights.put(name, value);
    if (!weights_.empty()) state.put("weights", weights);
  }
  void load(const State& state) override {
    last_step_ = state.get<int64_t>("last_step");
    without_ = state.get<int64_t>("without");
    if (!state.has("best")) return;
    best_ = state.get<double>("best");
    best_step_ = state.get<int64_t>("best_step");
    is_restored_ = state.has("is_restored") && state.get<int64_t>("is_restored") != 0;
    weights_ = state.part("weights").tensors();
  }

 private:
  /// New tensors each time, because checkpoints share them.
  void keep_weights(Run& run) {
    if (!p_.restore_best) return;
    run.may_restore_this_step();
    weights_.clear();
    for (const auto& [name, value] : run.variables(VariableScope::kModel)) weights_[name] = value.clone();
  }
  void restore(Run& run) {
    if (weights_.empty()) return;
    for (const auto& [name, value] : weights_) run.store().set(name, value);
    is_restored_ = true;
    run.restored(best_step_);
    log::info("the model has the weights of global_step " + std::to_string(best_step_) + ", whose " +
              p_.monitor.name + " is " + short_text(*best_) + "; tables and gates report these weights");
  }

  bool is_better(double value) const {
    if (std::isnan(value)) return false;
    if (!best_) return true;
    return goal_ == Goal::kMax ? value > *best_ + p_.min_delta : value < *best_ - p_.min_delta;
  }

  void stop_if_due(Run& run) const {
    if (without_ < p_.patience) return;
    const std::string best =
        best_ ? "the best is " + short_text(*best_) + " after global_step " + std::to_string(best_step_)
              : "every value is nan";
    const std::string by = p_.min_delta > 0 ? " by more than " + shortest(p_.min_delta) : "";
    run.request_stop(p_.monitor.name + " has not improved" + by + " in " + std::to_string(without_) +
                     " values; " + best);
  }

  Params p_;
  Goal goal_ = Goal::kMin;
  std::optional<double> best_;
  int64_t best_step_ = 0;
  int64_t last_step_ = -1;                      // of the newest value
  int64_t without_ = 0;                         // values since the best
  bool is_restored_ = false;                    // the model has the weights of the best value
  std::map<std::string, Tensor> weights_ = {};  // of the best value
};

TPACK_REGISTER(Callback, EarlyStop, "EarlyStop");

}  // namespace
}  // namespace tpack
