#include "nn/batch_norm.h"

#include "core/text.h"
#include "nn/input_checks.h"
#include "ops/batch_norm.h"
#include "ops/replica_mean.h"

namespace tpack::nn {
namespace {

/// If no variable of a layer is trained, its statistics do not change either, because they belong to its
/// weights.
template <class Options>
bool is_frozen(Builder& b, const Options& o) {
  if (!o.center && !o.scale) return b.variables().is_frozen(b.variable_name("mean/EMA"));
  const auto untrained = [&](const char* name) { return b.variables().is_untrained(b.variable_name(name)); };
  return (!o.center || untrained("beta")) && (!o.scale || untrained("gamma"));
}

/// A single value minus its mean is always 0.
void reject_single_values(const Builder& b, const Shape& shape) {
  if (shape.elements() != shape[1]) return;
  throw_shape_error(b, "a batch of shape " + shape.str() +
                           " has one value per channel, so the output would not depend on it; use larger "
                           "batches (and BatchData without a remainder of one sample), or LayerNorm");
}

struct ChannelStatistics {
  Symbol gamma, beta, mean, variance;
};
struct NormalizedBatch {
  Symbol y, mean, variance;
};

NormalizedBatch over_batch(Builder& b, Symbol x, Symbol gamma, Symbol beta, double epsilon) {
  const Node& norm = b.emit<BatchNorm>({epsilon}, {x, gamma, beta});
  return {norm.out(0), norm.out(1), norm.out(2)};
}

/// Uses means over all replicas, whose batches have the same size. The variance is computed around the common
/// mean, which loses fewer digits than the mean of squares.
NormalizedBatch over_replicas(Builder& b, Symbol x, Symbol gamma, Symbol beta, double epsilon) {
  const Shape& shape = x.shape();
  BatchNorm({epsilon}).infer(std::vector{x.spec(), gamma.spec(), beta.spec()});  // which checks them
  const std::vector<int> axes = all_but_channels(shape);
  const Symbol mean = replica_mean(b, b.reduce_mean(x, axes));
  const Symbol centered = b.sub(x, per_channel(b, mean, shape));
  const Symbol variance = replica_mean(b, b.reduce_mean(b.square(centered), axes));
  const Symbol scale = b.mul(gamma, b.rsqrt(b.add(variance, epsilon)));
  const Symbol y = b.add(b.mul(centered, per_channel(b, scale, shape)), per_channel(b, beta, shape));
  return {y, mean, variance};
}

/// The mean of the samples of each part, for each sample, computed from those of single channels. Shapes: x
/// [N, C, ...] -> [N, C, 1, ...].
Symbol mean_of_parts(Builder& b, Symbol x, int64_t samples) {
  const Shape& shape = x.shape();
  std::vector<int> axes = all_but_channels(shape);
  axes.erase(axes.begin());
  const Symbol of_channels = axes.empty() ? x : b.reduce_mean(x, axes, Builder::Keep::kYes);
  const Shape parts{shape[0] / samples, samples, shape[1]};
  const Symbol mean = b.reduce_mean(b.reshape(of_channels, parts), {1}, Builder::Keep::kYes);
  return b.reshape(b.broadcast_to(mean, parts), of_channels.shape());
}

NormalizedBatch over_parts(Builder& b, Symbol x, Symbol gamma, Symbol beta, double epsilon, int64_t samples) {
  const Shape& shape = x.shape();
  BatchNorm({epsilon}).infer(std::vector{x.spec(), gamma.spec(), beta.spec()});  // which checks them
  check_sizes(b, {{"virtual_batch_size", samples}});
  if (shape[0] % samples != 0) {
    throw_shape_error(b, "'virtual_batch_size' is " + std::to_string(samples) +
                             ", which does not divide the batch of " + std::to_string(shape[0]) +
                             " samples; change one of them (and use BatchData without a remainder)");
  }
  reject_single_values(b, shape.with(0, samples));
  const Symbol mean = mean_of_parts(b, x, samples);
  const Symbol centered = b.sub(x, mean);
  const Symbol variance = mean_of_parts(b, b.square(centered), samples);
  const Symbol normalized = b.mul(centered, b.rsqrt(b.add(variance, epsilon)));
  const Symbol y = b.add(b.mul(normalized, per_channel(b, gamma, shape)), per_channel(b, beta, shape));
  const auto over_all = [&](Symbol of_samples) {
    return b.reduce_mean(of_samples, all_but_channels(of_samples.shape()));
  };
  return {y, over_all(mean), over_all(variance)};
}

NormalizedBatch normalized_batch(Builder& b, Symbol x, Symbol gamma, Symbol beta, const BatchNormOptions& o) {
  if (b.training() && o.virtual_batch_size) {
    if (o.sync_statistics)
      throw_shape_error(b,
                        "'virtual_batch_size' divides a batch and 'sync_statistics' joins batches; set one");
    return over_parts(b, x, gamma, beta, o.epsilon, *o.virtual_batch_size);
  }
  if (o.sync_statistics) return over_replicas(b, x, gamma, beta, o.epsilon);
  if (b.training()) reject_single_values(b, x.shape());
  return over_batch(b, x, gamma, beta, o.epsilon);
}

Symbol with_averages(Builder& b, Symbol x, const ChannelStatistics& s, double epsilon) {
  const Symbol scale = b.mul(s.gamma, b.rsqrt(b.add(s.variance, epsilon)));
  const Symbol offset = b.sub(s.beta, b.mul(s.mean, scale));
  return b.add(b.mul(x, per_channel(b, scale, x.shape())), per_channel(b, offset, x.shape()));
}

void move_average(Builder& b, const std::string& name, Symbol average, Symbol batch, double momentum) {
  const Symbol now = b.add(b.mul(average, momentum), b.mul(b.stop_gradient(batch), 1 - momentum));
  b.assign(b.variable_name(name), now);
}

/// Declares the variables of the current scope; gamma and beta that are left out are constants.
template <class Options>
ChannelStatistics channel_variables(Builder& b, Symbol x, const Options& o) {
  if (x.shape().rank() < 2)
    throw_shape_error(b, "batch normalization needs [N, C, H, W] or [N, C], not " + x.spec().str());
  const Shape channels{x.shape()[1]};
  const Initialize ones = constant(1)({});
  const Symbol beta = o.center ? b.variable("beta", channels, {}) : b.constant(0, channels);
  const Symbol gamma =
      o.scale ? b.variable("gamma", channels, o.gamma_initializer ? o.gamma_initializer({}) : ones)
              : b.constant(1, channels);
  const Symbol mean = b.variable("mean/EMA", channels, {}, false);
  const Symbol variance = b.variable("variance/EMA", channels, ones, false);
  return {gamma, beta, mean, variance};
}

void move_averages(Builder& b, const ChannelStatistics& s, const NormalizedBatch& batch, double momentum) {
  move_average(b, "mean/EMA", s.mean, batch.mean, momentum);
  move_average(b, "variance/EMA", s.variance, batch.variance, momentum);
}

/// The number, or the hyper-parameter with its schedule.
Symbol limit(Builder& b, const char* name, const Scheduled& value, double least) {
  if (value.schedule) {
    return b.variable({.name = b.variable_name(name),
                       .spec = {b.float_type(), Shape{}},
                       .scope = VariableScope::kModel,
                       .hyper_parameter = true,
                       .schedule = value.schedule.object});
  }
  if (!(value.number >= least)) {
    throw ConfigError(b.origin(), (b.path().empty() ? "" : b.path() + ": ") + "'" + name + "' is " +
                                      shortest(value.number) + "; must be at least " + shortest(least));
  }
  return b.constant(value.number);
}

}  // namespace

Symbol batch_norm(Builder& b, Symbol x, const BatchNormOptions& o) {
  x = with_columns(b, x);
  const ChannelStatistics s = channel_variables(b, x, o);
  if (!o.training.value_or(b.training() && !is_frozen(b, o))) return with_averages(b, x, s, o.epsilon);
  const NormalizedBatch normalized = normalized_batch(b, x, s.gamma, s.beta, o);
  if (b.training()) move_averages(b, s, normalized, o.momentum);
  return normalized.y;
}

Symbol batch_renorm(Builder& b, Symbol x, const BatchRenormOptions& o) {
  x = with_columns(b, x);
  const ChannelStatistics s = channel_variables(b, x, o);
  if (!b.training() || is_frozen(b, o)) return with_averages(b, x, s, o.epsilon);
  reject_single_values(b, x.shape());
  const Shape& shape = x.shape();
  const Shape channels = s.gamma.shape();
  const NormalizedBatch normalized =
      over_batch(b, x, b.constant(1, channels), b.constant(0, channels), o.epsilon);
  const Symbol rmax = limit(b, "rmax", o.rmax, 1);
  const Symbol dmax = limit(b, "dmax", o.dmax, 0);
  const Symbol mean = b.stop_gradient(normalized.mean);
  const Symbol variance = b.stop_gradient(normalized.variance);
  const Symbol inverse = b.rsqrt(b.add(s.variance, o.epsilon));
  const Symbol ratio = b.mul(b.sqrt(b.add(variance, o.epsilon)), inverse);
  const Symbol r = b.stop_gradient(b.min(b.max(ratio, b.div(1.0, rmax)), rmax));
  const Symbol shift = b.mul(b.sub(mean, s.mean), inverse);
  const Symbol d = b.stop_gradient(b.min(b.max(shift, b.neg(dmax)), dmax));
  const Symbol scale = b.mul(s.gamma, r);
  const Symbol offset = b.add(s.beta, b.mul(s.gamma, d));
  move_averages(b, s, normalized, o.momentum);
  return b.add(b.mul(normalized.y, per_channel(b, scale, shape)), per_channel(b, offset, shape));
}

}  // namespace tpack::nn
