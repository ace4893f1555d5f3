#include "optim/moving_mean.h"
#include "optim/optimizers.h"

namespace tpack {
namespace {

/// s <- decay s + (1 - decay) g^2; u = g / (sqrt(s) + epsilon); p <- p - lr * u, or with momentum b <-
/// momentum b + u; p <- p - lr * b. Centered: m <- decay m + (1 - decay) g, and s - m^2 instead of s. Source:
/// Tieleman and Hinton 2012; Graves 2013 for the rest; PyTorch for the form.
class RmsProp final : public Optimizer {
 public:
  using Params = RmsPropParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>("RMSProp: divides the gradient by its moving root mean square.")
        .example("RMSProp: {learning_rate: 1.0e-3, decay: 0.9}")
        .field("decay", &Params::decay, between(0, 1), "decay of the mean of squares; below 1")
        .field("epsilon", &Params::epsilon, above(0), "added to the root")
        .field("momentum", &Params::momentum, between(0, 1), "share of the previous step to keep")
        .field("centered", &Params::centered,
               "divide by the standard deviation of the gradient, so that its mean does not count");
  }
  explicit RmsProp(const Params& p) : Optimizer(p), p_(p) {
    if (p.decay == 1) throw ConfigError("optimizer RMSProp: 'decay' must be below 1");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    Symbol square = moving_mean(b, state, "square", b.square(gradient), p_.decay);
    // Rounding may make the difference negative.
    if (p_.centered)
      square = b.max(b.sub(square, b.square(moving_mean(b, state, "mean", gradient, p_.decay))), 0.0);
    Symbol step = b.div(gradient, b.add(b.sqrt(square), p_.epsilon));
    if (p_.momentum > 0) {
      step = b.add(b.mul(state.slot("momentum"), p_.momentum), step);
      state.assign_slot("momentum", step);
    }
    return b.sub(parameters, b.mul(step, learning_rate));
  }

  Params p_;
};

TPACK_REGISTER(Optimizer, RmsProp, "RMSProp", "RMSPropOptimizer");

}  // namespace

std::unique_ptr<Optimizer> rmsprop(const RmsPropParams& params) { return make_checked<RmsProp>(params); }

}  // namespace tpack
