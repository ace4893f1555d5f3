#include "ops/batch_norm.h"

#include "layers/initializer.h"
#include "layers/layer.h"
#include "ops/replica_mean.h"

namespace tpack {
namespace {

struct BatchNormLayerParams {
  double momentum = 0.9;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  std::optional<bool> training;
  bool sync_statistics = false;
  Part<Initializer> gamma_initializer;
};

/// Normalizes each channel: with the batch's statistics while training, with their moving averages in
/// inference. Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma, mean/EMA, variance/EMA [C]. The
/// averages are EMA <- EMA * momentum + x * (1 - momentum), with the biased variance, on each tower;
/// checkpoints hold those of the first. They change once per step and call of the layer, in the update that
/// trains the layer's variables. A frozen layer uses its averages in training, too, and they stay. Source:
/// Ioffe and Szegedy 2015; tensorpack models/batch_norm.py; synchronized statistics: Peng et al. 2018,
/// "MegDet".
class BatchNormLayer final : public Layer {
 public:
  using Params = BatchNormLayerParams;
  static Schema<Params> schema() {
    return Schema<Params>("Batch normalization.")
        .example("BatchNorm: {momentum: 0.99}")
        .field("momentum", &Params::momentum, between(0, 1),
               "part of the old moving average that is kept each step")
        .field("epsilon", &Params::epsilon, above(0), "added to the variance")
        .field("center", &Params::center, "adds beta")
        .field("scale", &Params::scale, "multiplies by gamma")
        .field("training", &Params::training,
               "true or false forces batch or moving statistics; default: by the phase")
        .field("sync_statistics", &Params::sync_statistics,
               "while training on several towers or ranks: the statistics are those of all their batches "
               "together, not of each tower's own; each layer then waits for all towers")
        .field("gamma_initializer", &Params::gamma_initializer, "values of gamma; default ones");
  }
  explicit BatchNormLayer(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Shape channels{x.shape().rank() < 2 ? 1 : x.shape()[1]};
    const Initialize ones = fill_with([](Rng& /*rng*/) { return 1.0; });
    const Symbol beta = p_.center ? b.variable("beta", channels, {}) : b.constant(0, channels);
    const Symbol gamma =
        p_.scale ? b.variable("gamma", channels, p_.gamma_initializer ? p_.gamma_initializer->make({}) : ones)
                 : b.constant(1, channels);
    const Symbol mean = b.variable("mean/EMA", channels, {}, false);
    const Symbol variance = b.variable("variance/EMA", channels, ones, false);
    if (!p_.training.value_or(b.training() && !is_frozen(b)))
      return with_averages(b, x, {gamma, beta, mean, variance});
    if (b.training() && !p_.sync_statistics) reject_single_values(b, x.shape());
    const Normalized normalized =
        p_.sync_statistics ? over_replicas(b, x, gamma, beta) : alone(b, x, gamma, beta);
    if (b.training()) {
      update(b, "mean/EMA", mean, normalized.mean);
      update(b, "variance/EMA", variance, normalized.variance);
    }
    return normalized.y;
  }

 private:
  /// A layer that is not trained as a whole keeps its statistics, too: they are those of its weights.
  bool is_frozen(Builder& b) const {
    const auto frozen = [&](const char* name) { return b.variables().is_frozen(b.variable_name(name)); };
    if (!p_.center && !p_.scale) return frozen("mean/EMA");
    return (!p_.center || frozen("beta")) && (!p_.scale || frozen("gamma"));
  }

  /// One value minus its mean is 0, whatever it was.
  static void reject_single_values(const Builder& b, const Shape& shape) {
    const int64_t channels = shape.rank() < 2 ? 1 : shape[1];
    if (shape.elements() != channels) return;
    throw ShapeError(b.origin(),
                     b.path() + ": a batch of shape " + shape.str() +
                         " has one value per channel, and the output would not depend on it; use "
                         "larger batches (and BatchData without a remainder of one sample), or LayerNorm");
  }

  struct Statistics {
    Symbol gamma, beta, mean, variance;
  };
  struct Normalized {
    Symbol y, mean, variance;
  };

  Normalized alone(Builder& b, Symbol x, Symbol gamma, Symbol beta) const {
    const Node& norm = b.emit<BatchNorm>({p_.epsilon}, {x, gamma, beta});
    return {norm.out(0), norm.out(1), norm.out(2)};
  }

  /// With means over all replicas, whose batches have one size. The variance is taken around the common mean,
  /// which loses fewer digits than the mean of squares would.
  Normalized over_replicas(Builder& b, Symbol x, Symbol gamma, Symbol beta) const {
    const Shape& shape = x.shape();
    BatchNorm({p_.epsilon}).infer(std::vector{x.spec(), gamma.spec(), beta.spec()});  // which checks them
    const std::vector<int> axes = all_but_channels(shape);
    const Symbol mean = replica_mean(b, b.reduce_mean(x, axes));
    const Symbol centered = b.sub(x, per_channel(b, mean, shape));
    const Symbol variance = replica_mean(b, b.reduce_mean(b.square(centered), axes));
    const Symbol scale = b.mul(gamma, b.rsqrt(b.add(variance, p_.epsilon)));
    const Symbol y = b.add(b.mul(centered, per_channel(b, scale, shape)), per_channel(b, beta, shape));
    return {y, mean, variance};
  }

  Symbol with_averages(Builder& b, Symbol x, const Statistics& s) const {
    const Symbol scale = b.mul(s.gamma, b.rsqrt(b.add(s.variance, p_.epsilon)));
    const Symbol offset = b.sub(s.beta, b.mul(s.mean, scale));
    return b.add(b.mul(x, per_channel(b, scale, x.shape())), per_channel(b, offset, x.shape()));
  }

  void update(Builder& b, const std::string& name, Symbol average, Symbol batch) const {
    const Symbol now = b.add(b.mul(average, p_.momentum), b.mul(b.stop_gradient(batch), 1 - p_.momentum));
    b.assign(b.variable_name(name), now);
  }

  Params p_;
};

TPACK_REGISTER(Layer, BatchNormLayer, "BatchNorm");

}  // namespace
}  // namespace tpack
