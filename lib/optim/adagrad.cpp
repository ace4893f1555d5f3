#include "optim/optimizers.h"

namespace tpack {
namespace {

/// s <- s + g^2; p <- p - lr * g / (sqrt(initial_sum + s) + epsilon). Source: Duchi et al. 2011; PyTorch for
/// the form (its lr_decay is a schedule of the learning rate).
class Adagrad final : public Optimizer {
 public:
  using Params = AdagradParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>(
               "Adagrad: divides the gradient by the root of the sum of all its squares, so steps become "
               "smaller, least for parameters with rare gradients.")
        .example("Adagrad: {learning_rate: 0.05}")
        .field("initial_sum", &Params::initial_sum, at_least(0),
               "sum of squares before the first step; above 0, the first steps are smaller (Keras: 0.1)")
        .field("epsilon", &Params::epsilon, above(0), "added to the root");
  }
  explicit Adagrad(const Params& p) : Optimizer(p), initial_sum_(p.initial_sum), epsilon_(p.epsilon) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol sum = b.add(state.slot("sum"), b.square(gradient));
    state.assign_slot("sum", sum);
    const Symbol root = b.sqrt(initial_sum_ > 0 ? b.add(sum, initial_sum_) : sum);
    return b.sub(parameters, b.mul(b.div(gradient, b.add(root, epsilon_)), learning_rate));
  }

  double initial_sum_;
  double epsilon_;
};

TPACK_REGISTER(Optimizer, Adagrad, "Adagrad", "AdagradOptimizer");

}  // namespace

std::unique_ptr<Optimizer> adagrad(const AdagradParams& params) { return make_checked<Adagrad>(params); }

}  // namespace tpack
