#include <cmath>

#include "layers/initializer.h"

namespace tpack {
namespace {

enum class FanMode : uint8_t { kFanIn, kFanOut, kFanAverage };
enum class Distribution : uint8_t { kNormal, kTruncatedNormal, kUniform };

struct VarianceScalingParams {
  double scale = 2;
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kNormal;
};

}  // namespace

template <>
struct EnumNames<FanMode> {
  static constexpr std::array<std::pair<const char*, FanMode>, 3> kNames = {
      {{"fan_in", FanMode::kFanIn}, {"fan_out", FanMode::kFanOut}, {"fan_average", FanMode::kFanAverage}}};
};
template <>
struct EnumNames<Distribution> {
  static constexpr std::array<std::pair<const char*, Distribution>, 3> kNames = {
      {{"normal", Distribution::kNormal},
       {"truncated_normal", Distribution::kTruncatedNormal},
       {"uniform", Distribution::kUniform}}};
};

namespace {

/// Variance scale / fan. With its defaults tensorpack's choice for convolutions and fully connected layers.
/// Source: He et al. 2015, "Delving Deep into Rectifiers"; TensorFlow's VarianceScaling for the options.
class VarianceScaling final : public Initializer {
 public:
  using Params = VarianceScalingParams;
  static Schema<Params> schema() {
    return Schema<Params>("Random values with variance scale / fan.")
        .example("VarianceScaling: {scale: 2, mode: fan_out}")
        .field("scale", &Params::scale, above(0), "variance times fan")
        .field("mode", &Params::mode, "which fan: inputs per output, outputs per input, or their mean")
        .field("distribution", &Params::distribution,
               "shape of the distribution; truncated at two standard deviations");
  }
  explicit VarianceScaling(Params p) : p_(p) {}

  Initialize make(Fans fans) const override {
    const double deviation = std::sqrt(p_.scale / fan(fans));
    switch (p_.distribution) {
      case Distribution::kNormal:
        return fill_with([deviation](Rng& rng) { return deviation * rng.normal(); });
      case Distribution::kTruncatedNormal:
        return fill_with([deviation](Rng& rng) { return truncated(rng) * deviation; });
      case Distribution::kUniform:
        return fill_with(
            [limit = deviation * std::sqrt(3.0)](Rng& rng) { return limit * (2 * rng.uniform64() - 1); });
    }
    return {};
  }

 private:
  double fan(Fans fans) const {
    if (p_.mode == FanMode::kFanIn) return static_cast<double>(fans.in);
    if (p_.mode == FanMode::kFanOut) return static_cast<double>(fans.out);
    return static_cast<double>(fans.in + fans.out) / 2;
  }

  /// Standard deviation 1 after the values beyond 2 are drawn again.
  static double truncated(Rng& rng) {
    constexpr double kDeviationWithin2 = 0.87962566103423978;
    double value = rng.normal();
    while (std::abs(value) > 2) value = rng.normal();
    return value / kDeviationWithin2;
  }

  Params p_;
};

TPACK_REGISTER(Initializer, VarianceScaling, "VarianceScaling");

}  // namespace
}  // namespace tpack
