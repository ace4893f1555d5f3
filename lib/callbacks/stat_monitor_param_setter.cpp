#include <algorithm>
#include <deque>
#include <optional>

#include "callbacks/hyper_param.h"
#include "core/text.h"
#include "system/log.h"
#include "train/run_formula.h"

namespace tpack {
namespace {

struct StatMonitorParamSetterParams {
  Ref<HyperParamName> param;
  Ref<Stat> monitor;
  Formula value;
  double threshold = 0;
  int64_t last_k = 1;
  std::optional<bool> reverse;
  std::optional<double> stop_below;
};

constexpr const char* kMonitorSetterOwner = "callback StatMonitorParamSetter";

/// Source: tensorpack callbacks/param.py, StatMonitorParamSetter.
class StatMonitorParamSetter final : public HyperParamSetter {
 public:
  using Params = StatMonitorParamSetterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Changes a hyper-parameter when a statistic does not improve: the best of its last K values "
               "is not better than the first of them by more than the threshold.")
        .example(
            "StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: old * 0.2, threshold: "
            "0, last_k: 3}")
        .field("param", &Params::param, "the hyper-parameter, such as learning_rate")
        .required()
        .field("monitor", &Params::monitor,
               "the statistic; a step or a callback earlier in the list must report it")
        .required()
        .field("value", &Params::value,
               "the new value: an expression with old, epoch, step, hyper-parameters and statistics")
        .required()
        .field("threshold", &Params::threshold, at_least(0), "the improvement that must be exceeded")
        .required()
        .field("last_k", &Params::last_k, at_least(1), "number of values to compare; a change discards them")
        .required()
        .field("reverse", &Params::reverse,
               "true: higher values of the statistic are better, false: lower ones; default: the direction "
               "of the statistic, which is known for costs and for metrics of success or error")
        .field("stop_below", &Params::stop_below, "ends the run instead of setting a value below this one");
  }
  explicit StatMonitorParamSetter(const Params& p)
      : HyperParamSetter(p.param, {.identity = p.param.name + "-" + p.monitor.name}),
        p_(p),
        value_(p.value, std::string(kMonitorSetterOwner) + ", 'value'", {"old"}) {}

  void setup(Setup& setup) override {
    param_.setup(setup);
    value_.setup(setup, Expression::Result::kNumber);
    ScalarOrder::GoalUse goal;
    if (p_.reverse) goal.asked = *p_.reverse ? Goal::kMax : Goal::kMin;
    goal.if_opposite = "remove 'reverse'";
    goal.if_unknown = "write reverse: false (lower) or reverse: true (higher)";
    goal.use = [this](Goal known) { goal_ = known; };
    setup.needs_goal(p_.monitor, kMonitorSetterOwner, std::move(goal));
  }
  /// A resumed run that had ended because of `stop_below` ends again, unless it was lowered.
  void before_train(Run& run) override {
    if (run.resumed()) stop_if_due(run);
  }
  void trigger(Run& run) override {
    set_of_chief(run, run.is_chief() ? next(run) : std::nullopt, kMonitorSetterOwner);
  }
  void save(State& state) const override {
    state.put("last_step", last_step_);
    state.put("values", std::vector<double>(values_.begin(), values_.end()));
    if (refused_) state.put("refused", *refused_);
  }
  void load(const State& state) override {
    last_step_ = state.get<int64_t>("last_step");
    const auto values = state.get<std::vector<double>>("values");
    values_.assign(values.begin(), values.end());
    while (values_.size() > static_cast<size_t>(p_.last_k)) values_.pop_front();
    if (state.has("refused")) refused_ = state.get<double>("refused");
  }

 private:
  std::optional<double> next(Run& run) {
    const Monitors::History& history = run.monitors().get_history(p_.monitor.name);
    if (history.empty() || history.back().first == last_step_) {
      log::warning(std::string(kMonitorSetterOwner) + ": " + p_.monitor.name +
                   " has no new value after global_step " + std::to_string(run.global_step()) +
                   "; trigger this callback less often");
      return std::nullopt;
    }
    last_step_ = history.back().first;
    values_.push_back(history.back().second);
    if (values_.size() > static_cast<size_t>(p_.last_k)) values_.pop_front();
    if (values_.size() < static_cast<size_t>(p_.last_k) || has_improved()) return std::nullopt;
    values_.clear();
    const auto value = value_.number(run, {{"old", param_.value(run)}});
    refused_ = value && p_.stop_below && *value < *p_.stop_below ? value : std::nullopt;
    if (!refused_) return value;
    stop_if_due(run);
    return std::nullopt;
  }

  void stop_if_due(Run& run) const {
    if (!refused_ || !p_.stop_below || *refused_ >= *p_.stop_below) return;
    run.request_stop(p_.monitor.name + " has not improved, and " + param_.name() + " would be " +
                     short_text(*refused_) + ", below " + shortest(*p_.stop_below));
  }

  bool has_improved() const {
    const auto [smallest, largest] = std::minmax_element(values_.begin(), values_.end());
    if (goal_ == Goal::kMax) return *largest > values_.front() + p_.threshold;
    return *smallest < values_.front() - p_.threshold;
  }

  Params p_;
  Goal goal_ = Goal::kMin;
  RunFormula value_;
  std::deque<double> values_;      // since the last change, oldest first
  int64_t last_step_ = -1;         // of the newest value
  std::optional<double> refused_;  // the newest value of the hyper-parameter, if it was below `stop_below`
};

TPACK_REGISTER(Callback, StatMonitorParamSetter, "StatMonitorParamSetter");

}  // namespace
}  // namespace tpack
