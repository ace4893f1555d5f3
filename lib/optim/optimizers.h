#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/optimizer.h"

// The optimizers as objects, for programs: `momentum(0.1)`; a config names them: `Momentum: {learning_rate:
// 0.1}`. Their classes document the formulas. Errors: ConfigError for invalid values.
namespace tpack {

struct SgdParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
  double decoupled_weight_decay = 0;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> sgd(const SgdParams& params);

struct MomentumParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
  double momentum = 0.9;
  bool nesterov = false;
  double decoupled_weight_decay = 0;
  std::vector<Ref<VariablePattern>> exclude;
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

struct AdagradParams : OptimizerParams {
  using OptimizerParams::OptimizerParams;
  double initial_sum = 0;
  double epsilon = 1e-10;
};
std::unique_ptr<Optimizer> adagrad(const AdagradParams& params);

struct AdadeltaParams : OptimizerParams {
  AdadeltaParams(double rate = 1) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double decay = 0.9;
  double epsilon = 1e-6;
};
std::unique_ptr<Optimizer> adadelta(const AdadeltaParams& params = {});

/// The parameters of optimizers with moving means of gradients and of their squares.
struct MomentsParams : OptimizerParams {
  MomentsParams(double rate) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

struct AdamParams : MomentsParams {
  AdamParams(double rate = 1e-3) : MomentsParams(rate) {}  // NOLINT(google-explicit-constructor)
  bool amsgrad = false;
};
std::unique_ptr<Optimizer> adam(const AdamParams& params = {});

struct AdamWParams : AdamParams {
  using AdamParams::AdamParams;
  double weight_decay = 0.01;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> adamw(const AdamWParams& params = {});

struct AdamaxParams : MomentsParams {
  AdamaxParams(double rate = 2e-3) : MomentsParams(rate) {}  // NOLINT(google-explicit-constructor)
};
std::unique_ptr<Optimizer> adamax(const AdamaxParams& params = {});

struct NAdamParams : MomentsParams {
  NAdamParams(double rate = 2e-3) : MomentsParams(rate) {}  // NOLINT(google-explicit-constructor)
  double momentum_decay = 4e-3;
};
std::unique_ptr<Optimizer> nadam(const NAdamParams& params = {});

struct RAdamParams : MomentsParams {
  RAdamParams(double rate = 1e-3) : MomentsParams(rate) {}  // NOLINT(google-explicit-constructor)
};
std::unique_ptr<Optimizer> radam(const RAdamParams& params = {});

struct LionParams : OptimizerParams {
  LionParams(double rate = 1e-4) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> lion(const LionParams& params = {});

/// The size of the steps of kernels.
enum class MuonAdjust : uint8_t { kMatchRmsAdamW, kOriginal };

/// `beta1`, `beta2` and `epsilon` apply to all variables but kernels.
struct MuonParams : MomentsParams {
  MuonParams(double rate = 1e-3) : MomentsParams(rate) {}  // NOLINT(google-explicit-constructor)
  double momentum = 0.95;
  bool nesterov = true;
  int64_t steps = 5;
  MuonAdjust adjust = MuonAdjust::kMatchRmsAdamW;
  std::vector<Ref<VariablePattern>> others;
  double others_rate = 1;
  double weight_decay = 0.01;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> muon(const MuonParams& params = {});

struct AdafactorParams : OptimizerParams {
  AdafactorParams(double rate = 0.01) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double decay = 0.8;
  double epsilon = 1.1920929e-7;  // of float32
  double least_size = 1e-3;
  double clip = 1;
  double weight_decay = 0;
  std::vector<Ref<VariablePattern>> exclude;
};
std::unique_ptr<Optimizer> adafactor(const AdafactorParams& params = {});

/// The parameters of optimizers with a trust ratio for each variable, besides those of the step.
struct TrustParams {
  double weight_decay = 0;
  std::vector<Ref<VariablePattern>> exclude;
  bool adapt_vectors = false;
};

struct LarsParams : OptimizerParams, TrustParams {
  LarsParams(double rate = 1) : OptimizerParams(rate) {}  // NOLINT(google-explicit-constructor)
  double momentum = 0.9;
  double trust = 1e-3;
};
std::unique_ptr<Optimizer> lars(const LarsParams& params = {});

struct LambParams : MomentsParams, TrustParams {
  LambParams(double rate = 1e-3)  // NOLINT(google-explicit-constructor)
      : MomentsParams(rate) {
    epsilon = 1e-6;
  }
};
std::unique_ptr<Optimizer> lamb(const LambParams& params = {});

}  // namespace tpack
