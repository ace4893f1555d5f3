#include "nn/initializers.h"

#include <cmath>

namespace tpack::nn {
namespace {

double fan_of(FanMode mode, Fans fans) {
  if (mode == FanMode::kFanIn) return static_cast<double>(fans.in);
  if (mode == FanMode::kFanOut) return static_cast<double>(fans.out);
  return static_cast<double>(fans.in + fans.out) / 2;
}

/// Has standard deviation 1 after redrawing values beyond 2.
double truncated_normal(Rng& rng) {
  constexpr double kDeviationWithin2 = 0.87962566103423978;
  double value = rng.normal();
  while (std::abs(value) > 2) value = rng.normal();
  return value / kDeviationWithin2;
}

}  // namespace

InitializeFor variance_scaling(VarianceScalingOptions options) {
  return [options](Fans fans) -> Initialize {
    const double deviation = std::sqrt(options.scale / fan_of(options.mode, fans));
    switch (options.distribution) {
      case Distribution::kNormal:
        return fill_with([deviation](Rng& rng) { return deviation * rng.normal(); });
      case Distribution::kTruncatedNormal:
        return fill_with([deviation](Rng& rng) { return truncated_normal(rng) * deviation; });
      case Distribution::kUniform:
        return fill_with(
            [limit = deviation * std::sqrt(3.0)](Rng& rng) { return limit * (2 * rng.uniform64() - 1); });
    }
    return {};
  };
}

InitializeFor normal(double mean, double stddev) {
  return [mean, stddev](Fans /*fans*/) {
    return fill_with([mean, stddev](Rng& rng) { return mean + stddev * rng.normal(); });
  };
}

InitializeFor constant(double value) {
  return [value](Fans /*fans*/) { return fill_with([value](Rng& /*rng*/) { return value; }); };
}

Initialize initial_weights(const InitializeFor& given, Fans fans) {
  return given ? given(fans) : variance_scaling()(fans);
}

Initialize initial_values(const InitializeFor& given) { return given ? given({}) : Initialize(); }

}  // namespace tpack::nn
