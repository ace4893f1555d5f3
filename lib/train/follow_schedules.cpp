#include "train/follow_schedules.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Number of steps of a run to check before it begins.
constexpr int64_t kTriedSteps = 1000;

StepOfRun step_of(const Run& run, int64_t step) {
  const RunLength& length = run.length();
  return {.step = step,
          .steps_per_epoch = std::max<int64_t>(1, length.steps_per_epoch),
          .max_epoch = length.max_epoch};
}

class FollowSchedules final : public Callback {
 public:
  explicit FollowSchedules(std::map<std::string, std::shared_ptr<const Schedule>> schedules)
      : Callback({.ranks = Ranks::kAll}), schedules_(std::move(schedules)) {}

  void setup(Setup& setup) override {
    const Run& run = setup.run();
    const int64_t last = std::max<int64_t>(1, run.length().steps()) - 1;
    const int64_t distance = last / kTriedSteps + 1;
    for (const auto& [name, schedule] : schedules_) {
      for (int64_t k = 0; k <= last / distance; ++k) value_of(name, *schedule, step_of(run, k * distance));
      value_of(name, *schedule, step_of(run, last));
      if (run.is_chief() && run.length().max_epoch == RunLength{}.max_epoch)
        warn_of_no_end(name, *schedule, run);
      else if (run.is_chief())
        warn_of_early_end(name, *schedule, run);
      const double warmup = schedule->warmup_steps(step_of(run, 0).steps_per_epoch);
      if (run.is_chief() && warmup > 0 && warmup >= static_cast<double>(run.length().steps()))
        log::warning(
            "the warm-up of " + name + " takes " + shortest(warmup) + " steps, but the run has " +
            std::to_string(run.length().steps()) +
            ": the schedule never begins; a plain number means epochs, write warmup: {steps: ...} for steps");
    }
  }
  void before_train(Run& run) override { set(run); }
  void before_run(Run& run) override { set(run); }

 private:
  /// Errors: ConfigError for a value that the hyper-parameter cannot have.
  static double value_of(const std::string& name, const Schedule& schedule, const StepOfRun& now) {
    const double value = schedule.at(now);
    const char* wrong = why_invalid(name, value);
    if (wrong == nullptr) return value;
    throw ConfigError("the schedule of " + name + " has the value " + shortest(value) + " at step " +
                      std::to_string(now.step) + ": " + wrong);
  }

  /// Warns of a schedule that ends long before the run, with a value that is too small to train.
  static void warn_of_early_end(const std::string& name, const Schedule& schedule, const Run& run) {
    const auto length = schedule.length();
    const StepOfRun end = step_of(run, std::max<int64_t>(1, run.length().steps()) - 1);
    if (!length || length->steps(end.steps_per_epoch) >= static_cast<double>(run.length().steps())) return;
    double most = 0;
    for (int64_t k = 0; k <= kTriedSteps; ++k)
      most = std::max(most, std::abs(schedule.at(step_of(run, end.step * k / kTriedSteps))));
    constexpr double kSmall = 1e-3;
    if (std::abs(schedule.at(end)) > kSmall * most) return;
    log::warning("the schedule of " + name + " ends after " + length->str() + " (length), and the run has " +
                 std::to_string(run.length().max_epoch) + " epochs: it stays " +
                 short_text(schedule.at(end)) + " after that; remove `length` to end with max_epoch");
  }

  /// Warns of a schedule that depends on the length of the run, which has none.
  static void warn_of_no_end(const std::string& name, const Schedule& schedule, const Run& run) {
    StepOfRun now = step_of(run, step_of(run, 0).steps_per_epoch);
    const double as_it_is = schedule.at(now);
    now.max_epoch = 2;
    if (schedule.at(now) == as_it_is) return;
    log::warning("the schedule of " + name +
                 " ends with max_epoch, which is not set, so it hardly changes; set max_epoch, or `length` "
                 "of the schedule");
  }

  void set(Run& run) {
    for (const auto& [name, schedule] : schedules_)
      run.set_hyper_parameter(name, value_of(name, *schedule, step_of(run, run.schedule_step())));
  }

  std::map<std::string, std::shared_ptr<const Schedule>> schedules_;
};

}  // namespace

const char* why_invalid(const std::string& hyper_parameter, double value) {
  if (!std::isfinite(value)) return "the value is not a finite number";
  const bool is_rate = hyper_parameter == "learning_rate" || hyper_parameter.ends_with("/learning_rate");
  return is_rate && value < 0 ? "a learning rate must be at least 0" : nullptr;
}

std::unique_ptr<Callback> follow_schedules(const Trainer& trainer) {
  auto schedules = trainer.part<TrainedVariables>().schedules();
  return schedules.empty() ? nullptr : std::make_unique<FollowSchedules>(std::move(schedules));
}

}  // namespace tpack
