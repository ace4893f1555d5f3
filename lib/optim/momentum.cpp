#include "optim/decoupled_decay.h"
#include "optim/optimizers.h"

namespace tpack {
namespace {

/// v <- momentum * v + g; p <- p - lr * v, or with Nesterov p - lr * (g + momentum * v). A decoupled weight
/// decay also subtracts lr * decoupled_weight_decay * p (SGDW of Loshchilov and Hutter 2017).
/// Source: Sutskever et al. 2013; TensorFlow's MomentumOptimizer for the form (the learning rate is outside
/// of v).
class Momentum final : public Optimizer {
 public:
  using Params = MomentumParams;
  static Schema<Params> schema() {
    auto schema =
        optimizer_schema<Params>("Gradient descent with momentum.")
            .example("Momentum: {learning_rate: 0.1, nesterov: true}")
            .field("momentum", &Params::momentum, between(0, 1), "share of the previous step to keep")
            .field("nesterov", &Params::nesterov, "use Nesterov's momentum");
    return with_decay_fields(std::move(schema), "decoupled_weight_decay", &Params::decoupled_weight_decay);
  }
  explicit Momentum(const Params& p)
      : Optimizer(p),
        momentum_(p.momentum),
        nesterov_(p.nesterov),
        decay_(p.decoupled_weight_decay, p.exclude) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol velocity = b.add(b.mul(state.slot("momentum"), momentum_), gradient);
    state.assign_slot("momentum", velocity);
    const Symbol step = nesterov_ ? b.add(gradient, b.mul(velocity, momentum_)) : velocity;
    return b.sub(parameters,
                 decay_.added_to(b, state.layout(), parameters, learning_rate, b.mul(step, learning_rate)));
  }

  double momentum_;
  bool nesterov_;
  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, Momentum, "Momentum", "MomentumOptimizer");

}  // namespace

std::unique_ptr<Optimizer> momentum(const MomentumParams& params) { return make_checked<Momentum>(params); }

}  // namespace tpack
