#include "optim/moving_mean.h"
#include "optim/optimizers.h"

namespace tpack {
namespace {

/// s <- decay s + (1 - decay) g^2; d = g * sqrt(t + epsilon) / sqrt(s + epsilon); p <- p - lr * d; t <- decay
/// t + (1 - decay) d^2. Source: Zeiler 2012, Algorithm 1; the learning rate is PyTorch's.
class Adadelta final : public Optimizer {
 public:
  using Params = AdadeltaParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>(
               "Adadelta: the size of a step is that of the steps before it, so the learning rate is a "
               "factor "
               "near 1.")
        .example("Adadelta: {learning_rate: 1.0}")
        .field("decay", &Params::decay, between(0, 1), "decay of the means of squares; below 1")
        .field("epsilon", &Params::epsilon, above(0),
               "added to the means of squares of gradients and of steps; the first steps have about its root "
               "as size");
  }
  explicit Adadelta(const Params& p) : Optimizer(p), decay_(p.decay), epsilon_(p.epsilon) {
    if (decay_ == 1) throw ConfigError("optimizer Adadelta: 'decay' must be below 1");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol square = moving_mean(b, state, "square", b.square(gradient), decay_);
    const Symbol before = b.sqrt(b.add(state.slot("step_square"), epsilon_));
    const Symbol step = b.mul(b.div(before, b.sqrt(b.add(square, epsilon_))), gradient);
    moving_mean(b, state, "step_square", b.square(step), decay_);
    return b.sub(parameters, b.mul(step, learning_rate));
  }

  double decay_;
  double epsilon_;
};

TPACK_REGISTER(Optimizer, Adadelta, "Adadelta", "AdadeltaOptimizer");

}  // namespace

std::unique_ptr<Optimizer> adadelta(const AdadeltaParams& params) { return make_checked<Adadelta>(params); }

}  // namespace tpack
