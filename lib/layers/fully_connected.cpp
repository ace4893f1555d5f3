#include "layers/option_fields.h"
#include "nn/dense.h"

namespace tpack {
namespace {

/// y = x W + b, or, with `adapter_rank`, x W + b + scale (x A) B, where W and b are not trained. All axes
/// except the batch are flattened, in C, H, W order; or the product applies to the last axis. Shapes: x [N,
/// ...] -> y [N, units]; or x [..., in] -> y [..., units]; W [in, units], b [units], adapter/A [in, rank],
/// adapter/B [rank, units], adapter/scale []. Errors: ShapeError if the rank is above in or units, and for an
/// adapter with `kernel_transform`. Source: tensorpack models/fc.py; Hu et al. 2021, "LoRA: Low-Rank
/// Adaptation of Large Language Models".
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
                   "axis, from [N, T, in] to [N, T, units]")
            .field("adapter_rank", option<Params>(&Params::adapter_rank), at_least(1),
                   "rank of a low-rank adapter (LoRA), which is trained instead of W and b; at most the "
                   "sizes of W; default: no adapter")
            .field("adapter_alpha", option<Params>(&Params::adapter_alpha), above(0),
                   "the result of an adapter is multiplied by this number over its rank; default: the rank"));
  }
  explicit FullyConnected(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::dense(b, x, options_); }

 private:
  nn::DenseOptions options_;
};

TPACK_REGISTER(Layer, FullyConnected, "FullyConnected");

}  // namespace
}  // namespace tpack
