#include <cmath>
#include <optional>

#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct EarlyStopParams {
  Ref<Stat> monitor;
  std::optional<Goal> mode;
  int64_t patience = 5;
  double min_delta = 0;
};

constexpr const char* kEarlyStop = "callback EarlyStop";

/// Source: Keras, EarlyStopping.
class EarlyStop final : public Callback {
 public:
  using Params = EarlyStopParams;
  static Schema<Params> schema() {
    return Schema<Params>("Ends the run once a statistic has not improved for some time.")
        .example("EarlyStop: {monitor: validation_cost, patience: 3}")
        .field("monitor", &Params::monitor,
               "the statistic, which a step or a callback before this one reports")
        .required()
        .field("mode", &Params::mode,
               "min: lower values are better, max: higher ones; default: as the statistic has it, which is "
               "known of "
               "costs and of metrics that measure a success or an error")
        .field("patience", &Params::patience, at_least(1),
               "values (usually one an epoch) without an improvement after which the run ends")
        .field("min_delta", &Params::min_delta, at_least(0), "an improvement is larger than this");
  }
  explicit EarlyStop(Params p) : p_(std::move(p)) {}

  std::string identity() const override { return p_.monitor.name; }
  void setup(Setup& setup) override {
    const std::string asked = p_.mode ? goal_name(*p_.mode) : "";
    setup.needs_goal(p_.monitor, kEarlyStop,
                     {.asked = p_.mode,
                      .if_opposite = "remove 'mode: " + asked + "'",
                      .if_unknown = "write mode: min or mode: max",
                      .use = [this](Goal goal) { goal_ = goal; }});
  }
  /// A run that has ended for this reason ends again, unless the patience was raised.
  void before_train(Run& run) override {
    if (run.resumed()) stop_if_due(run);
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
    } else {
      ++without_;
    }
    stop_if_due(run);
  }
  void save(State& state) const override {
    state.put("last_step", last_step_);
    state.put("without", without_);
    if (!best_) return;
    state.put("best", *best_);
    state.put("best_step", best_step_);
  }
  void load(const State& state) override {
    last_step_ = state.get<int64_t>("last_step");
    without_ = state.get<int64_t>("without");
    if (!state.has("best")) return;
    best_ = state.get<double>("best");
    best_step_ = state.get<int64_t>("best_step");
  }

 private:
  bool is_better(double value) const {
    if (std::isnan(value)) return false;
    if (!best_) return true;
    return goal_ == Goal::kMax ? value > *best_ + p_.min_delta : value < *best_ - p_.min_delta;
  }

  void stop_if_due(Run& run) const {
    if (without_ < p_.patience) return;
    const std::string best =
        best_ ? "the best is " + shortest(*best_) + " after global_step " + std::to_string(best_step_)
              : "every value is nan";
    const std::string by = p_.min_delta > 0 ? " by more than " + shortest(p_.min_delta) : "";
    run.request_stop(p_.monitor.name + " has not improved" + by + " in " + std::to_string(without_) +
                     " values; " + best);
  }

  Params p_;
  Goal goal_ = Goal::kMin;
  std::optional<double> best_;
  int64_t best_step_ = 0;
  int64_t last_step_ = -1;  // of the newest value
  int64_t without_ = 0;     // values since the best
};

TPACK_REGISTER(Callback, EarlyStop, "EarlyStop");

}  // namespace
}  // namespace tpack
