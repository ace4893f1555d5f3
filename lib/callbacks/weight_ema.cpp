#include <algorithm>

#include "callbacks/averaged_weights.h"

namespace tpack {
namespace {

struct WeightEmaParams {
  double decay = 0.999;
  std::vector<Slot<Callback>> callbacks;
};

/// m <- d m + (1 - d) w after each step, d = min(decay, (1 + n) / (10 + n)) in step n, so that the first
/// values, which are far from the last ones, soon lose their weight. Source: TensorFlow,
/// train.ExponentialMovingAverage(decay, num_updates).
class WeightEma final : public AveragedWeights {
 public:
  using Params = WeightEmaParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Keeps an exponential moving average of the model's weights over the steps, and saves it in "
               "checkpoints/ema.h5 after each epoch, for `tpack eval` and `infer`. Its callbacks see the "
               "model with these weights; training continues with the original ones. Moving averages of "
               "BatchNorm are averaged, too.")
        .example("WeightEMA: {decay: 0.99, callbacks: [InferenceRunner: {data: validation}]}")
        .field("decay", &Params::decay, between(0, 1),
               "factor of the old average in each step, after enough steps; below 1: 0.999 averages over "
               "about 1,000 steps")
        .field("callbacks", &Params::callbacks, kAveragedCallbacks);
  }
  explicit WeightEma(const Params& p)
      : AveragedWeights("WeightEMA", "ema.h5", "the weights are averaged in each step", p.callbacks),
        decay_(p.decay) {
    if (decay_ == 1) throw ConfigError("callback WeightEMA: 'decay' must be below 1");
  }

  void after_run(Run& run) override {
    const auto steps = static_cast<double>(average_.count());
    const double decay = steps == 0 ? 0 : std::min(decay_, (1 + steps) / (10 + steps));
    average_.add(run.variables(VariableScope::kModel), 1 - decay);
    AveragedWeights::after_run(run);
  }
  void trigger(Run& run) override { show(run, "the moving average of the weights"); }

 private:
  double decay_;
};

TPACK_REGISTER(Callback, WeightEma, "WeightEMA", "ExponentialMovingAverage", "ModelEMA");

}  // namespace
}  // namespace tpack
