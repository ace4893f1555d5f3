#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "callbacks/numerics.h"
#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct CheckNumericsParams {
  bool run_as_trigger = true;
  bool run_step = false;
};

/// Source: tensorpack callbacks/misc.py, CheckNumerics.
class CheckNumerics final : public Callback {
 public:
  using Params = CheckNumericsParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Ends the run if a cost of a step, or a variable of the model or the optimizer, is NaN "
               "or infinite.")
        .example("CheckNumerics: {run_step: true}")
        .field("run_as_trigger", &Params::run_as_trigger,
               "check variables before training and after each epoch")
        .field("run_step", &Params::run_step, "check variables after each step, too");
  }
  explicit CheckNumerics(Params p) : p_(p) {}

  void setup(Setup& setup) override {
    const std::vector<StepStatistic> statistics = setup.statistics();
    for (size_t i = 0; i < statistics.size(); ++i) {
      const std::string& name = statistics[i].name;
      if (statistics[i].minimized) costs_.push_back({i, name == kCost ? "the cost" : "cost " + name});
    }
  }
  void before_train(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
  }
  void trigger_step(Run& run) override {
    check_costs(run);
    if (p_.run_step) check_variables(run);
  }
  void trigger(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
  }

 private:
  struct WatchedCost {
    size_t statistic = 0;
    std::string what;
  };

  void check_costs(Run& run) const {
    for (const WatchedCost& cost : costs_) {
      const auto value = run.statistic(cost.statistic);
      if (!value || !run.statistic_is_of_last_step(cost.statistic) || std::isfinite(*value)) continue;
      diverged(run, cost.what + " is " + (std::isnan(*value) ? "nan" : shortest(*value)) +
                        " (labels that are not below the number of classes also make it NaN)");
    }
  }

  Params p_;
  std::vector<WatchedCost> costs_;
};

TPACK_REGISTER(Callback, CheckNumerics, "CheckNumerics");

}  // namespace
}  // namespace tpack
