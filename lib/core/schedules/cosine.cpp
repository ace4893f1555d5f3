#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/schedule.h"

namespace tpack {
namespace {

/// end + (start - end) (1 + cos(pi part)) / 2, where `part` is the finished part of a cycle. The cycles have
/// the lengths period, period period_factor, period period_factor^2, ...; without a period, there is one.
/// Source: Loshchilov and Hutter 2016, "SGDR: Stochastic Gradient Descent with Warm Restarts".
class CosineSchedule final : public Schedule {
 public:
  struct Params {
    double start = 0;
    double end = 0;
    std::optional<Duration> period;
    double period_factor = 1;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Follows half a cosine from one number to another, once or in cycles.")
        .example("Cosine: {start: 0.1, end: 0.001, period: 10, period_factor: 2}")
        .field("start", &Params::start, "the first number")
        .required()
        .field("end", &Params::end, "the number at the end of a cycle, and after the end of the schedule")
        .field("period", &Params::period, above(0),
               "length of the first cycle, {steps: 500} or a number of epochs; each cycle starts again at "
               "`start`; default: one cycle over the whole length")
        .field("period_factor", &Params::period_factor, at_least(1),
               "each cycle is this many times as long as the one before");
  }
  explicit CosineSchedule(Params p) : p_(p) {
    if (p_.period_factor != 1 && !p_.period)
      throw ConfigError("schedule Cosine: 'period_factor' needs a 'period', such as period: 10");
  }

 private:
  double value(const Place& place) const override {
    const bool over = !p_.period || place.progress() >= 1;
    const double part = over ? place.progress() : part_of_cycle(place);
    return p_.end + (p_.start - p_.end) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }

  /// The finished part of the cycle, 0 to 1.
  double part_of_cycle(const Place& place) const {
    constexpr double kSlack = 1e-9;  // 3 * 0.1 epochs may be a little less than 0.3
    const double periods =
        place.since_warmup() / p_.period->steps(static_cast<int64_t>(place.steps_per_epoch));
    const double growth = p_.period_factor - 1;
    if (growth == 0) return std::max(periods - std::floor(periods + kSlack), 0.0);
    const double log_factor = std::log(p_.period_factor);
    const double cycle = std::floor(std::log1p(periods * growth) / log_factor + kSlack);
    const double begin = std::expm1(cycle * log_factor) / growth;  // periods before this cycle
    return std::clamp((periods - begin) / std::exp(cycle * log_factor), 0.0, 1.0);
  }
  Params p_;
};
TPACK_REGISTER(Schedule, CosineSchedule, "Cosine");

}  // namespace
}  // namespace tpack
