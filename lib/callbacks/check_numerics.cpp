#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "callbacks/bad_tensor.h"
#include "callbacks/numerics.h"
#include "core/text.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

enum class BadStep : uint8_t { kStop, kSkipStep, kRollback };

}  // namespace

template <>
struct EnumNames<BadStep> {
  static constexpr std::array<std::pair<const char*, BadStep>, 3> kNames = {
      {{"stop", BadStep::kStop}, {"skip_step", BadStep::kSkipStep}, {"rollback", BadStep::kRollback}}};
};

namespace {

constexpr const char* kBadSteps = "bad_steps";

struct CheckNumericsParams {
  bool run_as_trigger = true;
  bool run_step = false;
  BadStep policy = BadStep::kStop;
  int64_t max_bad_steps = 10;
};

/// Source: tensorpack callbacks/misc.py, CheckNumerics.
class CheckNumerics final : public Callback {
 public:
  using Params = CheckNumericsParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Checks for NaN and infinite numbers: in the gradient of each step, which is then not "
               "applied, in costs, and in the variables of the model and the optimizer. Names the first "
               "layer or variable with one.")
        .example("CheckNumerics: {policy: skip_step, max_bad_steps: 5}")
        .field("run_as_trigger", &Params::run_as_trigger,
               "check variables before training and after each epoch")
        .field("run_step", &Params::run_step, "also check variables after each step")
        .field("policy", &Params::policy,
               "after a bad gradient: stop ends the run; skip_step continues with the next batch and the "
               "state before the step; rollback continues with the weights and optimizer state of the last "
               "trigger (checkpoints store these, too). Bad costs and variables always end the run")
        .field("max_bad_steps", &Params::max_bad_steps, at_least(0),
               "more consecutive bad steps than this end the run with any policy; with rollback, more bad "
               "steps since the last trigger, because it would return to the same weights forever");
  }
  // Each rank has different batches.
  explicit CheckNumerics(Params p)
      : Callback({.ranks = Ranks::kAll,
                  .ranks_are_fixed = "all skip the same steps",
                  .always = "it reports updates that were not applied",
                  .changes_variables = p.policy == BadStep::kRollback}),
        p_(p) {}

  void setup(Setup& setup) override {
    setup.run().part<GradientUpdates>().guard_updates();
    const std::vector<StepStatistic> statistics = setup.run().part<StepStatistics>().statistics();
    for (size_t i = 0; i < statistics.size(); ++i) {
      const std::string& name = statistics[i].name;
      if (statistics[i].minimized) costs_.push_back({i, name == kCost ? "the cost" : "cost " + name});
    }
    if (p_.policy != BadStep::kStop) setup.provides(kBadSteps);
  }
  void before_train(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
    if (!run.resumed() || good_.empty()) keep_good(run);
  }
  void trigger_step(Run& run) override {
    const std::vector<std::string> skipped = run.skipped_updates();
    if (!skipped.empty()) return bad_step(run, skipped[0].empty() ? "" : " of " + join(skipped, ", "));
    in_a_row_ = 0;
    check_costs(run);
    if (p_.run_step) check_variables(run);
  }
  void trigger(Run& run) override {
    if (p_.run_as_trigger) check_variables(run);
    if (p_.policy != BadStep::kStop) run.monitors().put_scalar(kBadSteps, static_cast<double>(bad_steps_));
    keep_good(run);
  }

  void save(State& state) const override {
    if (p_.policy == BadStep::kStop) return;
    state.put(kBadSteps, bad_steps_);
    state.put("in_a_row", in_a_row_);
    state.put("since_good", since_good_);
    State good;
    for (const auto& [name, value] : good_) good.put(name, value);
    state.put("good", good);
  }
  void load(const State& state) override {
    if (p_.policy == BadStep::kStop) return;
    bad_steps_ = state.get<int64_t>(kBadSteps, 0);
    in_a_row_ = state.get<int64_t>("in_a_row", 0);
    since_good_ = state.get<int64_t>("since_good", 0);
    if (p_.policy == BadStep::kRollback) good_ = state.part("good").tensors();
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
      const std::string what = cost.what + " is " + (std::isnan(*value) ? "nan" : short_text(*value));
      if (const auto data = bad_data(run)) diverged(run, what + ": " + data->what, data->fix);
      diverged(run, what + unseen_data(run));
    }
  }

  /// `of`: " of update d", or "".
  void bad_step(Run& run, const std::string& of) {
    ++bad_steps_;
    ++in_a_row_;
    const auto [what, fix] = first_bad_tensor(run);
    if (p_.policy == BadStep::kStop)
      diverged(run, "the gradient" + of + " is not finite and was not applied: " + what, fix);
    ++since_good_;
    if (p_.policy == BadStep::kRollback && since_good_ > p_.max_bad_steps) {
      diverged(run,
               std::to_string(since_good_) +
                   " steps since the last trigger had a gradient that is not finite, although each restored "
                   "its weights; in the last one, " +
                   what,
               fix);
    }
    if (in_a_row_ > p_.max_bad_steps) {
      diverged(run,
               std::to_string(in_a_row_) +
                   " steps in a row had a gradient that is not finite; in the last one, " + what,
               fix);
    }
    const bool goes_back = p_.policy == BadStep::kRollback;
    log::warning("the gradient" + of + " in global_step " + std::to_string(run.global_step()) +
                 " is not finite and was not applied: " + what +
                 (goes_back ? "; the variables of the last trigger are restored" : ""));
    if (!goes_back) return;
    for (const auto& [name, value] : good_) run.store().set(name, value);
    run.share_variables();
  }

  /// Hyper-parameters keep the values from callbacks.
  void keep_good(Run& run) {
    since_good_ = 0;
    if (p_.policy != BadStep::kRollback) return;
    const std::vector<std::string> set_by_callbacks = run.part<TrainedVariables>().hyper_parameters();
    for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
      for (const auto& [name, value] : run.variables(scope)) {
        if (std::find(set_by_callbacks.begin(), set_by_callbacks.end(), name) == set_by_callbacks.end())
          good_[name] = value.clone();
      }
    }
  }

  Params p_;
  std::vector<WatchedCost> costs_;
  int64_t bad_steps_ = 0;
  int64_t in_a_row_ = 0;
  int64_t since_good_ = 0;              // bad steps since the last trigger
  std::map<std::string, Tensor> good_;  // to restore
};

TPACK_REGISTER(Callback, CheckNumerics, "CheckNumerics");

}  // namespace
}  // namespace tpack
