#include "callbacks/moving_mean.h"
#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct MovingAverageSummaryParams {
  double decay = 0.95;
  int64_t period = 0;
};

/// Source: tensorpack callbacks/summary.py, MovingAverageSummary and MergeAllSummaries; here one callback
/// does both, and checkpoints store the means.
class MovingAverageSummary final : public Callback {
 public:
  using Params = MovingAverageSummaryParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Keeps moving means of all statistics of the training step, and reports them at the last step "
               "of each epoch. Statistics that are already means over a longer time are reported unchanged.")
        .example("MovingAverageSummary: {decay: 0.99, period: 0}")
        .field("decay", &Params::decay, between(0, 1), "factor of the old mean in each step; below 1")
        .field("period", &Params::period, at_least(0),
               "also reports in steps of an epoch whose number, from 1, is a multiple of this; 0: never");
  }
  explicit MovingAverageSummary(Params p) : Callback({.only_one = true}), p_(p) {
    if (p_.decay == 1) throw ConfigError("callback MovingAverageSummary: 'decay' must be below 1");
  }

  void setup(Setup& setup) override {
    for (const StepStatistic& statistic : setup.run().part<StepStatistics>().statistics()) {
      names_.push_back(statistic.name);
      is_mean_.push_back(statistic.is_mean);
      setup.provides(statistic.name, ScalarOrder::When::kStep, statistic.known_goal());
    }
    means_ = MovingMean(p_.decay, names_.size());
  }
  void after_run(Run& run) override {
    means_.update([&](size_t i) { return run.statistic(i); });
  }
  void trigger_step(Run& run) override {
    const int64_t steps = run.local_step() + 1;
    const bool is_due = p_.period > 0 && steps % p_.period == 0;
    if (!is_due && steps != run.length().steps_per_epoch) return;
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto value = is_mean_[i] ? run.statistic(i) : moving_mean(i);
      if (value) run.monitors().put_scalar(names_[i], *value);
    }
  }
  void save(State& state) const override {
    state.put("names", join(names_, " "));
    means_.save(state);
  }
  void load(const State& state) override {
    const bool same = state.get<std::string>("names", "") == join(names_, " ");
    means_.load(same ? state : State());
  }

 private:
  std::optional<double> moving_mean(size_t i) const {
    return means_.has_value(i) ? std::optional(means_.value(i)) : std::nullopt;
  }

  Params p_;
  std::vector<std::string> names_;
  std::vector<bool> is_mean_;
  MovingMean means_;
};

TPACK_REGISTER(Callback, MovingAverageSummary, "MovingAverageSummary");

}  // namespace
}  // namespace tpack
