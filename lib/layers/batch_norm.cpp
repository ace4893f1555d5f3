#include "nn/batch_norm.h"

#include "layers/option_fields.h"

namespace tpack {
namespace {

struct BatchNormLayerParams : nn::BatchNormOptions {
  Part<Initializer> gamma_component;
};

/// Normalizes each channel: with the batch's statistics in training, with their moving averages in inference.
/// Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma, mean/EMA, variance/EMA [C]. The averages are EMA
/// <- EMA * momentum + x * (1 - momentum), with the biased variance, on each tower; checkpoints have those of
/// the first. They change once per step and call of the layer, in the update that trains the layer's
/// variables. A frozen layer uses its averages in training, too, without changing them. Source: Ioffe and
/// Szegedy 2015; tensorpack models/batch_norm.py; synchronized statistics: Peng et al. 2018, "MegDet"; parts
/// of batches: Hoffer et al. 2017, "Train longer, generalize better".
class BatchNormLayer final : public Layer {
 public:
  using Params = BatchNormLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Batch normalization.")
        .example("BatchNorm: {momentum: 0.99}")
        .field("momentum", option<Params>(&Params::momentum), between(0, 1),
               "share of the old moving average that each step keeps")
        .field("epsilon", option<Params>(&Params::epsilon), above(0), "added to the variance")
        .field("center", option<Params>(&Params::center), "adds beta")
        .field("scale", option<Params>(&Params::scale), "multiply by gamma")
        .field("training", option<Params>(&Params::training),
               "true: batch statistics; false: moving statistics; default: batch statistics in training, "
               "else moving ones")
        .field("sync_statistics", option<Params>(&Params::sync_statistics),
               "when training on several towers or ranks: compute the statistics over the batches of all "
               "towers, not of each tower alone; each layer then waits for all towers")
        .field("virtual_batch_size", option<Params>(&Params::virtual_batch_size), at_least(1),
               "in training: normalize parts of this many neighboring samples alone (ghost batch "
               "normalization), which large batches may need to generalize; must divide the batch size")
        .field("gamma_initializer", &Params::gamma_component, "initial values of gamma; default: ones");
  }
  explicit BatchNormLayer(const Params& p) : options_(static_cast<const nn::BatchNormOptions&>(p)) {
    if (p.virtual_batch_size && p.sync_statistics)
      throw ConfigError(
          "layer BatchNorm: 'virtual_batch_size' divides a batch and 'sync_statistics' joins "
          "batches; set one of them");
    options_.gamma_initializer = initializer_of(p.gamma_component);
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::batch_norm(b, x, options_); }

 private:
  nn::BatchNormOptions options_;
};

TPACK_REGISTER(Layer, BatchNormLayer, "BatchNorm");

}  // namespace
}  // namespace tpack
