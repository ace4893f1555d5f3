#include "optim/optimizers.h"

namespace tpack {
namespace {

/// v <- momentum * v + g; p <- p - lr * v, or with Nesterov p - lr * (g + momentum * v).
/// Source: Sutskever et al. 2013; TensorFlow's MomentumOptimizer for the form (the learning rate is outside
/// of v).
class Momentum final : public Optimizer {
 public:
  using Params = MomentumParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>("Gradient descent with momentum.")
        .example("Momentum: {learning_rate: 0.1, nesterov: true}")
        .field("momentum", &Params::momentum, between(0, 1), "share of the previous step to keep")
        .field("nesterov", &Params::nesterov, "use Nesterov's momentum");
  }
  explicit Momentum(const Params& p) : Optimizer(p), momentum_(p.momentum), nesterov_(p.nesterov) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol velocity = b.add(b.mul(state.slot("momentum"), momentum_), gradient);
    state.assign_slot("momentum", velocity);
    const Symbol step = nesterov_ ? b.add(gradient, b.mul(velocity, momentum_)) : velocity;
    return b.sub(parameters, b.mul(step, learning_rate));
  }

  double momentum_;
  bool nesterov_;
};

TPACK_REGISTER(Optimizer, Momentum, "Momentum", "MomentumOptimizer");

}  // namespace

std::unique_ptr<Optimizer> momentum(const MomentumParams& params) { return make_checked<Momentum>(params); }

}  // namespace tpack
