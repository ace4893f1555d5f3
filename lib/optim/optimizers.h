#pragma once

#include <memory>
#include <vector>

#include "optim/optimizer.h"

// The optimizers as objects, for programs: `momentum(0.1)`; a config names them: `Momentum: {learning_rate:
// 0.1}`. Their classes document the formulas. Errors: ConfigError for invalid values.
namespace tpack {

struct SgdParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
};
std::unique_ptr<Optimizer> sgd(const SgdParams& params);

struct MomentumParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
  double momentum = 0.9;
  bool nesterov = false;
};
std::unique_ptr<Optimizer> momentum(const MomentumParams& params);

struct RmsPropParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
  double decay = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  bool centered = false;
};
std::unique_ptr<Optimizer> rmsprop(const RmsPropParams& params);

struct AdamParams : OptimizerParams {
  AdamParams(double rate = 1e-3) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
std::unique_ptr<Optimizer> adam(const AdamParams& params = {});

struct AdamWParams : AdamParams {
  using AdamParams::AdamParams;
  double weight_decay = 0.01;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> adamw(const AdamWParams& params = {});

}  // namespace tpack
