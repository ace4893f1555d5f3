#include <cmath>
#include <optional>

#include "callbacks/hyper_param.h"
#include "core/piecewise.h"
#include "core/text.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct ScheduledHyperParamSetterParams {
  Ref<HyperParamName> param;
  std::vector<Piecewise::Point> values;
  Piecewise::Interpolation interp = Piecewise::Interpolation::kNone;
  bool step_based = false;
  bool set_at_beginning = true;
};

constexpr const char* kScheduledSetterOwner = "callback ScheduledHyperParamSetter";

/// Equal in the precision of a float32 variable.
bool is_close(double a, double b) { return std::abs(a - b) <= 1e-8 + 1e-5 * std::abs(b); }

/// Source: tensorpack callbacks/param.py, ScheduledHyperParamSetter; unlike there, a scheduled 0 counts when
/// a run catches up.
class ScheduledHyperParamSetter final : public HyperParamSetter {
 public:
  using Params = ScheduledHyperParamSetterParams;
  static Schema<Params> schema() {
    return Schema<Params>("Sets a hyper-parameter at certain epochs or steps.")
        .example("ScheduledHyperParamSetter: {param: learning_rate, values: [[10, 3.0e-4], [15, 1.0e-4]]}")
        .field("param", &Params::param, "the hyper-parameter, such as learning_rate")
        .required()
        .field(
            "values", &Params::values,
            "pairs [epoch, value] in increasing order: the value is set after that epoch ([10, x]: epoch 11 "
            "is the first with x); 0: before the first epoch")
        .required()
        .field("interp", &Params::interp,
               "between two points; none: keep the value, linear, cosine: slow near both points, "
               "exponential: the same factor each time")
        .field("step_based", &Params::step_based, "the first number of a pair is a global step, not an epoch")
        .field("set_at_beginning", &Params::set_at_beginning,
               "if starting_epoch of a new run is after some points, it starts with the value of the last of "
               "them");
  }
  explicit ScheduledHyperParamSetter(Params p)
      : HyperParamSetter(p.param), p_(std::move(p)), schedule_(p_.values, p_.interp, kScheduledSetterOwner) {
    for (const auto& [time, value] : p_.values) {
      const char* wrong = why_invalid(p_.param.name, value);
      if (time < 0) wrong = p_.step_based ? "a step must be at least 0" : "an epoch must be at least 0";
      if (wrong == nullptr) continue;
      throw ConfigError(std::string(kScheduledSetterOwner) + ": invalid pair [" + std::to_string(time) +
                        ", " + shortest(value) + "] in 'values': " + wrong);
    }
  }

  void setup(Setup& setup) override {
    param_.setup(setup);
    if (setup.run().is_chief()) warn_of_late_points(setup.run().length());
  }
  void before_train(Run& run) override {
    // The checkpoint has the value, which another schedule or callback may have set.
    if (run.resumed()) return warn_where_not_followed(run);
    time_ = now(run);
    set(run, schedule_.change_at(now(run)));
    const auto due = schedule_.value_after(now(run));
    const double actual = param_.value(run);
    if (!due || is_close(actual, *due)) return;
    log::warning(
        "according to its schedule, " + p_.param.name + " should be " + short_text(*due) +
        " now, but it is " + short_text(actual) +
        (p_.set_at_beginning ? "; it is set" : "; it is not changed, because set_at_beginning is false"));
    if (p_.set_at_beginning) set(run, due);
  }
  void trigger_step(Run& run) override {
    if (p_.step_based) follow(run);
  }
  void trigger(Run& run) override {
    if (!p_.step_based) follow(run);
  }
  /// The state of the schedule, so that a resumed run knows whether it was changed.
  void save(State& state) const override {
    if (!time_) return;
    state.put("step_based", p_.step_based);
    state.put("time", *time_);
    if (const auto due = schedule_.value_after(*time_)) state.put("due", *due);
  }
  void load(const State& state) override {
    if (state.get<int64_t>("step_based") != static_cast<int64_t>(p_.step_based)) return;
    time_ = state.get<int64_t>("time");
    if (state.has("due")) due_ = state.get<double>("due");
  }

 private:
  void warn_of_late_points(const RunLength& length) const {
    const int64_t end = p_.step_based ? length.steps() : length.max_epoch;
    for (const auto& [time, value] : schedule_.without_effect(end)) {
      log::warning(p_.param.position.str() + ": " + kScheduledSetterOwner + ": [" + std::to_string(time) +
                   ", " + shortest(value) + "] has no effect: the run ends with " +
                   (p_.step_based ? "step " : "epoch ") + std::to_string(end) + " (max_epoch)");
    }
  }

  void warn_where_not_followed(Run& run) {
    const bool is_known = time_ && schedule_.value_after(*time_) == due_;
    if (!time_) time_ = now(run);
    const auto due = schedule_.value_after(*time_);
    const double actual = param_.value(run);
    if (is_known || !due || is_close(actual, *due) || !run.is_chief()) return;
    log::warning(
        "according to its schedule, which is not in the checkpoint, " + p_.param.name + " should be " +
        short_text(*due) + " now; it stays " + short_text(actual) +
        ", as in the checkpoint, until the schedule sets it again; to change it earlier, add a point at a "
        "later " +
        (p_.step_based ? "step" : "epoch"));
  }

  int64_t now(const Run& run) const { return p_.step_based ? run.global_step() : run.epoch(); }

  void follow(Run& run) {
    time_ = now(run);
    set(run, schedule_.change_at(*time_));
  }

  void set(Run& run, const std::optional<double>& value) {
    if (value) param_.set(run, *value, kScheduledSetterOwner);
  }

  Params p_;
  Piecewise schedule_;
  std::optional<int64_t> time_;  // of the last check of the schedule
  std::optional<double> due_;    // then, as the checkpoint has it
};

TPACK_REGISTER(Callback, ScheduledHyperParamSetter, "ScheduledHyperParamSetter");

}  // namespace
}  // namespace tpack
