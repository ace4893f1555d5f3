#include <algorithm>
#include <cmath>
#include <optional>

#include "callbacks/numerics.h"
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
               "Ends the run if the cost of a step, or a variable of the model or the optimizer, is NaN "
               "or infinite.")
        .example("CheckNumerics: {run_step: true}")
        .field("run_as_trigger", &Params::run_as_trigger,
               "check variables before training and after each epoch")
        .field("run_step", &Params::run_step, "check variables after each step, too");
  }
  explicit CheckNumerics(Params p) : p_(p) {}

  void setup(Setup& setup) override {
    const std::vector<std::string> names = setup.statistics();
    const auto cost = std::find(names.begin(), names.end(), "cost");
    if (cost != names.end()) cost_ = static_cast<size_t>(cost - names.begin());
  }
  void before_train(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
  }
  void trigger_step(Run& run) override {
    check_cost(run);
    if (p_.run_step) check_variables(run);
  }
  void trigger(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
  }

 private:
  void check_cost(Run& run) const {
    if (!cost_ || std::isfinite(run.statistic(*cost_))) return;
    diverged(run, "the cost is " + std::to_string(run.statistic(*cost_)) +
                      " (labels that are not below the number of classes also make it NaN)");
  }

  Params p_;
  std::optional<size_t> cost_;
};

TPACK_REGISTER(Callback, CheckNumerics, "CheckNumerics");

}  // namespace
}  // namespace tpack
