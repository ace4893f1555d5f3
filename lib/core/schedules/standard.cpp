// Schedules that most runs need, each a function of the progress of the run.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/formula.h"
#include "core/piecewise.h"
#include "core/schedule.h"

namespace tpack {
namespace {

/// A constant number, after a warm-up.
class ConstantSchedule final : public Schedule {
 public:
  struct Params {
    double value = 0;
  };
  static Schema<Params> schema() {
    return Schema<Params>("One number, after a warm-up.")
        .example("Constant: {value: 0.1, warmup: 2}")
        .field("value", &Params::value, "the number")
        .required()
        .shorthand();
  }
  explicit ConstantSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& /*place*/) const override { return p_.value; }
  Params p_;
};
TPACK_REGISTER(Schedule, ConstantSchedule, "Constant");

/// The numbers of ScheduledHyperParamSetter, also between two steps.
class PiecewiseSchedule final : public Schedule {
 public:
  struct Params {
    std::vector<Piecewise::Point> values;
    Piecewise::Interpolation interp = Piecewise::Interpolation::kNone;
    bool step_based = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Changes the number at given epochs.")
        .example("Piecewise: {values: [[0, 0.1], [30, 0.01], [60, 0.001]]}")
        .field("values", &Params::values,
               "pairs [epoch, value] in increasing order, the first one for 0: the value is used after this "
               "many epochs")
        .required()
        .field("interp", &Params::interp,
               "interpolation between two points; none: keep the value, linear, cosine: slow near both "
               "points, exponential: a constant factor per step")
        .field("step_based", &Params::step_based, "the first number of a pair is a step, not an epoch");
  }
  explicit PiecewiseSchedule(Params p)
      : p_(std::move(p)), points_(p_.values, p_.interp, "schedule Piecewise") {
    if (p_.values[0].first != 0)
      throw ConfigError("schedule Piecewise: the first pair of 'values' must be for 0: [0, VALUE]");
  }

 private:
  double value(const Place& place) const override {
    return points_.at(p_.step_based ? place.step : place.epoch);
  }
  Params p_;
  Piecewise points_;
};
TPACK_REGISTER(Schedule, PiecewiseSchedule, "Piecewise");

/// start + (end - start) progress.
class LinearSchedule final : public Schedule {
 public:
  struct Params {
    double start = 0;
    double end = 0;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Changes linearly from one number to another.")
        .example("Linear: {start: 0.1, end: 0.001}")
        .field("start", &Params::start, "the first number")
        .required()
        .field("end", &Params::end, "the number after the last step");
  }
  explicit LinearSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& place) const override {
    return p_.start + place.progress() * (p_.end - p_.start);
  }
  Params p_;
};
TPACK_REGISTER(Schedule, LinearSchedule, "Linear");

/// end + (start - end) (1 - progress)^power. Source: Liu et al. 2015, "ParseNet".
class PolynomialSchedule final : public Schedule {
 public:
  struct Params {
    double start = 0;
    double end = 0;
    double power = 0.9;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Changes from one number to another by a power of the remaining part.")
        .example("Polynomial: {start: 0.01, power: 0.9}")
        .field("start", &Params::start, "the first number")
        .required()
        .field("end", &Params::end, "the number after the last step")
        .field("power", &Params::power, above(0), "exponent of the remaining part");
  }
  explicit PolynomialSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& place) const override {
    return p_.end + (p_.start - p_.end) * std::pow(1 - place.progress(), p_.power);
  }
  Params p_;
};
TPACK_REGISTER(Schedule, PolynomialSchedule, "Polynomial");

/// start factor^(time / every); with `staircase`, time / every is rounded down: StepLR and ExponentialLR of
/// PyTorch.
class ExponentialSchedule final : public Schedule {
 public:
  struct Params {
    double start = 0;
    double factor = 0.1;
    Duration every = {1};
    bool staircase = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Multiplies the number by a constant factor per period.")
        .example("Exponential: {start: 0.1, factor: 0.1, every: 30, staircase: true}")
        .field("start", &Params::start, "the first number")
        .required()
        .field("factor", &Params::factor, above(0), "factor per period `every`")
        .field("every", &Params::every, above(0), "{steps: 500} or a number of epochs")
        .field("staircase", &Params::staircase, "change only at whole multiples of `every`");
  }
  explicit ExponentialSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& place) const override {
    double times = place.since_warmup() / p_.every.steps(static_cast<int64_t>(place.steps_per_epoch));
    if (p_.staircase) times = std::floor(times + 1e-9);  // 3 * 0.1 epochs may be a little less than 0.3
    return p_.start * std::pow(p_.factor, times);
  }
  Params p_;
};
TPACK_REGISTER(Schedule, ExponentialSchedule, "Exponential");

/// Along a cosine from peak / rise to the peak, then to peak / fall at the last step. Source: Smith and Topin
/// 2017, "Super-Convergence"; the defaults and steps are those of PyTorch's OneCycleLR.
class OneCycleSchedule final : public Schedule {
 public:
  struct Params {
    double peak = 0;
    double rise = 25;
    double fall = 250000;
    double up = 0.3;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Rises to a peak and falls again, each along a cosine.")
        .example("OneCycle: {peak: 0.1}")
        .field("peak", &Params::peak, "the largest number")
        .required()
        .field("rise", &Params::rise, above(0), "ratio of the peak to the first number")
        .field("fall", &Params::fall, above(0), "ratio of the peak to the last number")
        .field("up", &Params::up, between(0, 1), "share of the length in which the number rises");
  }
  explicit OneCycleSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& place) const override {
    const double last = std::max(place.length - place.warmup - 1, 1.0);
    const double top = std::clamp(p_.up * (last + 1) - 1, 0.0, last);  // the step of the peak
    const double step = std::min(place.since_warmup(), last);
    const bool rises = step < top;
    const double from = rises ? p_.peak / p_.rise : p_.peak;
    const double to = rises ? p_.peak : p_.peak / p_.fall;
    const double part = rises ? step / top : (step - top) / std::max(last - top, 1.0);
    return to + (from - to) * (1 + std::cos(std::numbers::pi * std::min(part, 1.0))) / 2;
  }
  Params p_;
};
TPACK_REGISTER(Schedule, OneCycleSchedule, "OneCycle");

/// peak sqrt(warmup / step). Source: Vaswani et al. 2017, "Attention Is All You Need", section 5.3.
class InverseSqrtSchedule final : public Schedule {
 public:
  struct Params {
    double peak = 0;
  };
  static Schema<Params> schema() {
    return Schema<Params>(
               "Falls with the inverse square root of the steps after the warm-up: half of the peak after "
               "four times the warm-up. Without a warm-up, one step counts as the warm-up.")
        .example("InverseSqrt: {peak: 1.0e-3, warmup: {steps: 4000}}")
        .field("peak", &Params::peak, "the number at the end of the warm-up")
        .required();
  }
  explicit InverseSqrtSchedule(Params p) : p_(p) {}

 private:
  double value(const Place& place) const override {
    const double begin = std::max(place.warmup, 1.0);
    return p_.peak * std::sqrt(begin / std::max(place.step, begin));
  }
  Params p_;
};
TPACK_REGISTER(Schedule, InverseSqrtSchedule, "InverseSqrt");

/// A formula of the config.
class FormulaSchedule final : public Schedule {
 public:
  struct Params {
    Formula value;
  };
  static Schema<Params> schema() {
    return Schema<Params>("The value of a formula at each step.")
        .example("Formula: \"0.1 * pow(0.5, epoch / 10)\"")
        .field("value", &Params::value,
               "formula of step, epoch (with fractions: 0.5 after half of the first one), progress (share of "
               "the length that is done, 0 to 1) and steps_per_epoch")
        .required()
        .shorthand();
  }
  explicit FormulaSchedule(Params p) : p_(std::move(p)) {
    p_.value.expression().check();
    value(Place{.step = 0, .epoch = 0, .warmup = 0, .length = 1});  // finds unknown names
  }

 private:
  double value(const Place& place) const override {
    const MapScope names(ConfigNode::map({{"step", place.step},
                                          {"epoch", place.epoch},
                                          {"progress", place.progress()},
                                          {"steps_per_epoch", place.steps_per_epoch}}));
    const ConfigNode result = p_.value.expression().evaluate(names);
    if (!result.is_number())
      throw ConfigError(p_.value.position(),
                        "schedule Formula: expected a number, found " + result.describe());
    return result.as_double();
  }
  Params p_;
};
TPACK_REGISTER(Schedule, FormulaSchedule, "Formula");

}  // namespace
}  // namespace tpack
