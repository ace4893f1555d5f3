#include "layers/initializer.h"

namespace tpack {

template <>
struct EnumNames<nn::FanMode> {
  static constexpr std::array<std::pair<const char*, nn::FanMode>, 3> kNames = {
      {{"fan_in", nn::FanMode::kFanIn},
       {"fan_out", nn::FanMode::kFanOut},
       {"fan_average", nn::FanMode::kFanAverage}}};
};
template <>
struct EnumNames<nn::Distribution> {
  static constexpr std::array<std::pair<const char*, nn::Distribution>, 3> kNames = {
      {{"normal", nn::Distribution::kNormal},
       {"truncated_normal", nn::Distribution::kTruncatedNormal},
       {"uniform", nn::Distribution::kUniform}}};
};

namespace {

/// Variance scale / fan. The defaults are tensorpack's choice for convolutions and fully connected layers.
/// Source: He et al. 2015, "Delving Deep into Rectifiers"; TensorFlow's VarianceScaling for the options.
class VarianceScaling final : public Initializer {
 public:
  using Params = nn::VarianceScalingOptions;
  static Schema<Params> schema() {
    return Schema<Params>("Random values with variance scale / fan.")
        .example("VarianceScaling: {scale: 2, mode: fan_out}")
        .field("scale", &Params::scale, above(0), "variance times fan")
        .field("mode", &Params::mode, "which fan: inputs per output, outputs per input, or their mean")
        .field("distribution", &Params::distribution,
               "shape of the distribution; truncated at two standard deviations");
  }
  explicit VarianceScaling(Params p) : p_(p) {}

  Initialize make(nn::Fans fans) const override { return nn::variance_scaling(p_)(fans); }

 private:
  Params p_;
};

TPACK_REGISTER(Initializer, VarianceScaling, "VarianceScaling");

}  // namespace
}  // namespace tpack
