#include "optim/decoupled_decay.h"
#include "optim/optimizers.h"

namespace tpack {
namespace {

/// p <- p - lr * g - lr * decoupled_weight_decay * p.
class Sgd final : public Optimizer {
 public:
  using Params = SgdParams;
  static Schema<Params> schema() {
    auto schema =
        optimizer_schema<Params>("Stochastic gradient descent.").example("SGD: {learning_rate: 0.1}");
    return with_decay_fields(std::move(schema), "decoupled_weight_decay", &Params::decoupled_weight_decay);
  }
  explicit Sgd(const Params& p) : Optimizer(p), decay_(p.decoupled_weight_decay, p.exclude) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol step = b.mul(gradient, learning_rate);
    return b.sub(parameters, decay_.added_to(b, state.layout(), parameters, learning_rate, step));
  }

  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, Sgd, "SGD", "GradientDescentOptimizer");

}  // namespace

std::unique_ptr<Optimizer> sgd(const SgdParams& params) { return make_checked<Sgd>(params); }

}  // namespace tpack
