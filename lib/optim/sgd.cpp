#include "optim/optimizers.h"

namespace tpack {
namespace {

/// p <- p - lr * g.
class Sgd final : public Optimizer {
 public:
  using Params = SgdParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>("Stochastic gradient descent.").example("SGD: {learning_rate: 0.1}");
  }
  explicit Sgd(Params p) : Optimizer(std::move(p)) {}

 private:
  Symbol apply(Builder& b, OptimizerState& /*state*/, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    return b.sub(parameters, b.mul(gradient, learning_rate));
  }
};

TPACK_REGISTER(Optimizer, Sgd, "SGD", "GradientDescentOptimizer");

}  // namespace

std::unique_ptr<Optimizer> sgd(const SgdParams& params) { return make_checked<Sgd>(params); }

}  // namespace tpack
