#include "nn/squeeze_excite.h"

#include "layers/option_fields.h"

namespace tpack {
namespace {

struct SqueezeExciteParams : nn::SqueezeExciteOptions {
  std::optional<int64_t> given_ratio;
  Part<Layer> activation_layer;
  Part<Layer> gate_layer;
  Part<Initializer> kernel_component;
};

/// Shapes: x [N, C, H, W] -> y same; squeeze/W [C, units], squeeze/b [units], excite/W [units, C], excite/b
/// [C]. Errors: ShapeError if `ratio` does not divide C. Source: Hu et al. 2018, "Squeeze-and-Excitation
/// Networks"; equals torchvision's SqueezeExcitation.
class SqueezeExcite final : public Layer {
 public:
  using Params = SqueezeExciteParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Squeeze and excitation: two small dense layers compute a factor for each channel from the "
               "means of all channels.")
        .example("SqueezeExcite: {units: 2}")
        .field("ratio", &Params::given_ratio, at_least(1),
               "channels per unit of the first layer; must divide the number of channels; default: 16")
        .field("units", option<Params>(&Params::units), at_least(1),
               "outputs of the first layer, instead of a ratio")
        .field("use_bias", option<Params>(&Params::use_bias), "add one value per output of both layers")
        .field("activation", &Params::activation_layer, "layer applied to the first result; default: ReLU")
        .field("gate", &Params::gate_layer, "layer that makes the factors; default: Sigmoid")
        .field("kernel_initializer", &Params::kernel_component,
               "initial values of both W; default: VarianceScaling");
  }
  explicit SqueezeExcite(const Params& p) : options_(static_cast<const nn::SqueezeExciteOptions&>(p)) {
    if (p.units && p.given_ratio)
      throw ConfigError(
          "layer SqueezeExcite: 'ratio' and 'units' both set the outputs of the first layer; "
          "set one of them");
    options_.ratio = p.given_ratio.value_or(options_.ratio);
    options_.activation = activation_of(p.activation_layer);
    options_.gate = activation_of(p.gate_layer);
    options_.kernel_initializer = initializer_of(p.kernel_component);
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::squeeze_excite(b, x, options_); }

 private:
  nn::SqueezeExciteOptions options_;
};

TPACK_REGISTER(Layer, SqueezeExcite, "SqueezeExcite");

}  // namespace
}  // namespace tpack
