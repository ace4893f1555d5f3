#pragma once

#include "layers/activation.h"
#include "layers/initializer.h"

namespace tpack {

/// A member of the base class of Params, as a member of Params.
template <class Params, class T, class Options>
constexpr T Params::*option(T Options::*member) {
  return member;
}

/// Options of a function of nn with weights, and the components for their functions.
template <class Options>
struct WeightedParams : Options {
  Part<Layer> activation_layer;
  Part<Layer> transform_layer;
  Part<Initializer> kernel_component;
  Part<Initializer> bias_component;

  Options options() const {
    Options options = static_cast<const Options&>(*this);
    options.activation = activation_of(activation_layer);
    options.kernel_transform = activation_of(transform_layer);
    options.kernel_initializer = initializer_of(kernel_component);
    options.bias_initializer = initializer_of(bias_component);
    return options;
  }
};

/// Adds the fields of these components.
template <class Options>
Schema<WeightedParams<Options>> with_weight_fields(Schema<WeightedParams<Options>> schema) {
  using Params = WeightedParams<Options>;
  return schema.field("activation", &Params::activation_layer, "layer applied to the result")
      .field("kernel_initializer", &Params::kernel_component, "initial values of W; default: VarianceScaling")
      .field("bias_initializer", &Params::bias_component, "initial values of b; default: zeros")
      .field(
          "kernel_transform", &Params::transform_layer,
          "layer applied to W in each step before it is used, such as QuantizeWeight; W itself stays as it "
          "is; default: none");
}

}  // namespace tpack
