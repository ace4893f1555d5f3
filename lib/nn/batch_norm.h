#pragma once

#include <optional>
#include <string_view>

#include "core/schedule.h"
#include "graph/builder.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct BatchNormOptions {
  double momentum = 0.9;              // share of the old moving average that each step keeps
  double epsilon = 1e-5;              // added to the variance
  bool center = true;                 // adds beta
  bool scale = true;                  // multiplies by gamma
  std::optional<bool> training = {};  // batch or moving statistics; default: batch statistics in training
  bool sync_statistics = false;       // in training: use the batches of all replicas
  std::optional<int64_t> virtual_batch_size = {};  // in training: samples of each part of the batch that is
                                                   // normalized alone
  InitializeFor gamma_initializer = {};            // empty: ones
};

/// Normalizes each channel: with the batch's statistics in training, with their moving averages in inference.
/// Shapes: x [N, C, H, W] or [N, C] -> y same; beta, gamma, mean/EMA, variance/EMA [C], variables of the
/// current scope. The averages are EMA <- EMA * momentum + x * (1 - momentum), with the biased variance, on
/// each tower; checkpoints have those of the first. They change once per step and call, in the update that
/// trains the variables. With frozen variables it uses its averages in training, too, without changing them.
/// Parts of a batch are of neighboring samples; the averages get the means of their statistics. Errors:
/// ShapeError for inputs of other ranks, and in training for a batch (or part) with one value per channel, a
/// batch that `virtual_batch_size` does not divide, and parts with synchronized statistics. Source: Ioffe and
/// Szegedy 2015; tensorpack models/batch_norm.py; synchronized statistics: Peng et al. 2018, "MegDet"; parts
/// of batches: Hoffer et al. 2017, "Train longer, generalize better".
Symbol batch_norm(Builder& b, Symbol x, const BatchNormOptions& options = {});
/// The same in a scope with this name.
inline Symbol batch_norm(Builder& b, Symbol x, std::string_view name, const BatchNormOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return batch_norm(b, x, options);
}

struct BatchRenormOptions {
  Scheduled rmax = 3;                    // largest factor of the correction, at least 1
  Scheduled dmax = 5;                    // largest offset of the correction
  double momentum = 0.99;                // share of the old moving average that each step keeps
  double epsilon = 1e-5;                 // added to the variance
  bool center = true;                    // adds beta
  bool scale = true;                     // multiplies by gamma
  InitializeFor gamma_initializer = {};  // empty: ones
};

/// Batch normalization that in training corrects the result by r and d to what the moving averages would
/// give: (x - mean) / deviation * r + d, where r = deviation / average deviation, from 1 / rmax to rmax, and
/// d = (mean
/// - average mean) / average deviation, from -dmax to dmax. No gradient flows through r and d. With rmax 1
/// and dmax 0 it is batch_norm. A schedule is a hyper-parameter, rmax or dmax of the current scope. Shapes,
/// variables, averages, frozen variables and errors: as for batch_norm; also ConfigError for rmax below 1 and
/// dmax below 0. Source: Ioffe 2017, "Batch Renormalization: Towards Reducing Minibatch Dependence in
/// Batch-Normalized Models"; tensorpack models/batch_norm.py. The averages are those of the variance, as in
/// batch_norm, not those of the deviation.
Symbol batch_renorm(Builder& b, Symbol x, const BatchRenormOptions& options = {});
/// The same in a scope with this name.
inline Symbol batch_renorm(Builder& b, Symbol x, std::string_view name,
                           const BatchRenormOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return batch_renorm(b, x, options);
}

}  // namespace tpack::nn
