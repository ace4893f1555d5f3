#pragma once

#include "layers/option_fields.h"
#include "nn/norms.h"

namespace tpack {

/// Options of LayerNorm or InstanceNorm, and the component for their initializer.
template <class Options>
struct AffineNormParams : Options {
  Part<Initializer> gamma_component;

  Options options() const {
    Options options = static_cast<const Options&>(*this);
    options.gamma_initializer = initializer_of(gamma_component);
    return options;
  }
};

template <class Options>
Schema<AffineNormParams<Options>> affine_norm_schema(const char* summary, const char* example) {
  using Params = AffineNormParams<Options>;
  return Schema<Params>(summary)
      .example(example)
      .field("epsilon", option<Params>(&Params::epsilon), above(0), "added to the variance")
      .field("center", option<Params>(&Params::center), "adds beta")
      .field("scale", option<Params>(&Params::scale), "multiply by gamma")
      .field("gamma_initializer", &Params::gamma_component, "initial values of gamma; default: ones");
}

}  // namespace tpack
