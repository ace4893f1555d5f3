#include "layers/option_fields.h"
#include "nn/dense.h"

namespace tpack {
namespace {

/// y = x W + b. All axes except the batch are flattened, in C, H, W order; or the product applies to the last
/// axis. Shapes: x [N, ...] -> y [N, units]; or x [..., in] -> y [..., units]; W [in, units], b [units].
/// Source: tensorpack models/fc.py.
class FullyConnected final : public Layer {
 public:
  using Params = WeightedParams<nn::DenseOptions>;
  static Schema<Params> schema() {
    return with_weight_fields(
        Schema<Params>("Product with a weight matrix, plus a bias.")
            .example("FullyConnected: {units: 128, activation: ReLU}")
            .field("units", option<Params>(&Params::units), at_least(1), "number of outputs")
            .required()
            .shorthand()
            .field("use_bias", option<Params>(&Params::use_bias), "add one value per output")
            .field("flatten", option<Params>(&Params::flatten),
                   "true: flatten all axes except the batch; false: apply the same product along the last "
                   "axis, from [N, T, in] to [N, T, units]"));
  }
  explicit FullyConnected(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::dense(b, x, options_); }

 private:
  nn::DenseOptions options_;
};

TPACK_REGISTER(Layer, FullyConnected, "FullyConnected");

}  // namespace
}  // namespace tpack
