#include "layers/option_fields.h"
#include "nn/batch_norm.h"

namespace tpack {
namespace {

struct BatchRenormParams : nn::BatchRenormOptions {
  Part<Initializer> gamma_component;
};

/// Batch normalization that in training corrects its result to what the moving averages would give. Shapes: x
/// [N, C, H, W] or [N, C] -> y same; beta, gamma, mean/EMA, variance/EMA [C], as of BatchNorm, whose
/// checkpoints fit. Source: Ioffe 2017, "Batch Renormalization"; tensorpack models/batch_norm.py.
class BatchRenorm final : public Layer {
 public:
  using Params = BatchRenormParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Batch renormalization: a BatchNorm that corrects its result in training, within limits, to "
               "what the moving averages would give. For small batches, and batches of related samples. The "
               "paper trains with rmax 1 and dmax 0, which is BatchNorm, for 5000 steps, and then raises "
               "both "
               "slowly: they may have schedules.")
        .example("BatchRenorm: {rmax: 3, dmax: 5}")
        .field("rmax", option<Params>(&Params::rmax),
               "largest factor of the correction; at least 1; a number, or a schedule of the hyper-parameter "
               "NAME/rmax")
        .field("dmax", option<Params>(&Params::dmax),
               "largest offset of the correction; at least 0; a number, or a schedule")
        .field("momentum", option<Params>(&Params::momentum), between(0, 1),
               "share of the old moving average that each step keeps")
        .field("epsilon", option<Params>(&Params::epsilon), above(0), "added to the variance")
        .field("center", option<Params>(&Params::center), "adds beta")
        .field("scale", option<Params>(&Params::scale), "multiply by gamma")
        .field("gamma_initializer", &Params::gamma_component, "initial values of gamma; default: ones");
  }
  explicit BatchRenorm(const Params& p) : options_(static_cast<const nn::BatchRenormOptions&>(p)) {
    options_.gamma_initializer = initializer_of(p.gamma_component);
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::batch_renorm(b, x, options_); }

 private:
  nn::BatchRenormOptions options_;
};

TPACK_REGISTER(Layer, BatchRenorm, "BatchRenorm");

}  // namespace
}  // namespace tpack
