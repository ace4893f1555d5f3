#include <cmath>
#include <limits>
#include <optional>

#include "callbacks/hyper_param.h"
#include "callbacks/moving_mean.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

struct LearningRateFinderParams {
  Ref<HyperParamName> param{"learning_rate", {}};
  Ref<Stat> monitor{kCost, {}};
  double from = 1e-6;
  double to = 1;
  int64_t steps = 100;
  double decay = 0.9;
  double diverged_at = 4;
};

constexpr const char* kFinder = "callback LearningRateFinder";
constexpr const char* kFinderRate = "finder_rate";
constexpr const char* kFinderCost = "finder_cost";

/// Source: Smith 2015, Cyclical Learning Rates for Training Neural Networks, section 3.3.
class LearningRateFinder final : public HyperParamSetter {
 public:
  using Params = LearningRateFinderParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Raises the learning rate by the same factor in each step, reports finder_rate and "
               "finder_cost (a moving mean of the cost), ends the run after the last step or when the cost "
               "diverges, and logs at which rate the cost fell fastest. Use it in a separate run.")
        .example("LearningRateFinder: {from: 1.0e-4, to: 1, steps: 10}")
        .field("param", &Params::param, "the hyper-parameter")
        .field("monitor", &Params::monitor, "the statistic of the training step that should fall")
        .field("from", &Params::from, above(0), "rate of the first step")
        .field("to", &Params::to, above(0), "rate of the last step; above `from`")
        .field("steps", &Params::steps, between(3, 1000000), "number of steps")
        .field("decay", &Params::decay, between(0, 0.999), "factor of the old mean in each step")
        .field("diverged_at", &Params::diverged_at, above(1),
               "ends the run when the mean is this many times its smallest value");
  }
  explicit LearningRateFinder(const Params& p)
      : HyperParamSetter(p.param, {.only_one = true}), p_(p), mean_(p.decay, 1) {
    if (p_.to <= p_.from)
      throw ConfigError(std::string(kFinder) + ": 'to' is " + shortest(p_.to) +
                        "; it must be above 'from' (" + shortest(p_.from) + ")");
  }

  void setup(Setup& setup) override {
    param_.setup(setup);
    cost_ = setup.statistic(p_.monitor);
    setup.provides(kFinderRate, ScalarOrder::When::kRun);
    setup.provides(kFinderCost, ScalarOrder::When::kRun);
    const RunLength& length = setup.run().length();
    const int64_t epochs = length.max_epoch - length.starting_epoch + 1;
    const int64_t per_epoch = length.steps_per_epoch;
    if (per_epoch == 0 || epochs < (p_.steps + per_epoch - 1) / per_epoch)
      throw ConfigError(std::string(kFinder) + ": the run is shorter than " + std::to_string(p_.steps) +
                        " steps; raise max_epoch, or lower 'steps'");
  }
  /// A resumed run that had ended for this reason ends again, unless there are more rates to try.
  void before_train(Run& run) override {
    if (run.resumed()) stop_if_due(run);
  }
  void before_run(Run& run) override {
    if (done_ < p_.steps) run.set_hyper_parameter(param_.name(), rate(done_));
  }
  void after_run(Run& run) override {
    if (done_ >= p_.steps) return;
    // A step without the cost's update does not count; a skipped step shows that the rate is bad.
    if (!run.statistic_is_of_last_step(cost_) && run.skipped_updates().empty()) return;
    ++done_;
    if (!run.is_chief()) return;
    mean_.update([&](size_t) { return run.statistic(cost_); });
    rates_.push_back(rate(done_ - 1));
    costs_.push_back(mean_.has_value(0) ? mean_.value(0) : std::numeric_limits<double>::quiet_NaN());
    run.monitors().put_scalar(kFinderRate, rates_.back());
    run.monitors().put_scalar(kFinderCost, costs_.back());
    if (costs_.back() < best_) best_ = costs_.back();
    stop_if_due(run);
  }
  void after_train(Run& run) override {
    if (!run.is_chief() || rates_.size() < 2) return;
    const auto steepest = steepest_step();
    if (!steepest) return log::warning(std::string(kFinder) + ": the cost never fell; try smaller rates");
    log::info(std::string(kFinder) + ": the cost fell fastest at " + param_.name() + " " +
              short_text(rates_[*steepest]) + "; see finder_cost over finder_rate in stats.csv");
  }
  void save(State& state) const override {
    state.put("done", done_);
    state.put("rates", rates_);
    state.put("costs", costs_);
    state.put("best", best_);
    mean_.save(state);
  }
  void load(const State& state) override {
    done_ = state.get<int64_t>("done");
    rates_ = state.get<std::vector<double>>("rates");
    costs_ = state.get<std::vector<double>>("costs");
    best_ = state.get<double>("best");
    mean_.load(state);
  }

 private:
  void stop_if_due(Run& run) const {
    if (rates_.empty()) return;
    const bool is_higher = best_ > 0 && costs_.back() > p_.diverged_at * best_;
    if (is_higher || !std::isfinite(costs_.back())) {
      run.request_stop("the cost diverges at " + param_.name() + " " + short_text(rates_.back()));
    } else if (done_ >= p_.steps) {
      run.request_stop("the last rate of LearningRateFinder was tried");
    }
  }

  double rate(int64_t step) const {
    return p_.from * std::pow(p_.to / p_.from, static_cast<double>(step) / static_cast<double>(p_.steps - 1));
  }

  /// The middle of the steps where the mean fell most; each step is the same factor of the rate. Measured
  /// over a twentieth of the steps, because a single step is noisy; and not at the beginning, where the mean
  /// has only a few batches.
  std::optional<size_t> steepest_step() const {
    const auto steps = static_cast<size_t>(p_.steps);
    const size_t window = std::max<size_t>(1, steps / 20);
    const size_t first = steps / 10;
    std::optional<size_t> at;
    double fall = 0;
    for (size_t i = first; i + window < costs_.size(); ++i) {
      if (!(costs_[i] - costs_[i + window] > fall)) continue;
      fall = costs_[i] - costs_[i + window];
      at = i + window / 2;
    }
    return at;
  }

  Params p_;
  size_t cost_ = 0;  // number of the statistic
  int64_t done_ = 0;
  MovingMean mean_;
  double best_ = std::numeric_limits<double>::infinity();
  std::vector<double> rates_;  // of the steps so far; on the chief, like the next one
  std::vector<double> costs_;
};

TPACK_REGISTER(Callback, LearningRateFinder, "LearningRateFinder");

}  // namespace
}  // namespace tpack
