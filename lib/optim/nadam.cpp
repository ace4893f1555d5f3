#include <cmath>

#include "optim/adam_rule.h"
#include "optim/moving_mean.h"

namespace tpack {
namespace {

/// m and v of Adam; mu(t) = beta1 (1 - 0.96^(t * momentum_decay) / 2); p <- p - lr * ((1 - mu(t)) / (1 -
/// M(t)) g + mu(t+1) / (1 - M(t+1)) m) / (sqrt(v') + epsilon), where M(t) = mu(1) ... mu(t), and v' is v
/// without its bias towards zero. Source: Dozat 2016, "Incorporating Nesterov Momentum into Adam"; PyTorch 2
/// (PyTorch 1.13 multiplies mu(t) twice into M(t+1)).
class NAdam final : public Optimizer {
 public:
  using Params = NAdamParams;
  static Schema<Params> schema() {
    return moments_schema<Params>("Adam with Nesterov's momentum.")
        .example("NAdam: {learning_rate: 2.0e-3}")
        .field("momentum_decay", &Params::momentum_decay, at_least(0),
               "how fast the momentum of a step rises from half of beta1 to beta1; 0: it stays at half");
  }
  explicit NAdam(const Params& p) : Optimizer(p), p_(p) { check_betas(p.beta1, p.beta2, "optimizer NAdam"); }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol m = moving_mean(b, state, "m", gradient, p_.beta1);
    const Symbol v = moving_mean(b, state, "v", b.square(gradient), p_.beta2);
    const Symbol number = b.add(state.number("step"), 1.0);
    state.assign_number("step", number);
    const Symbol mu = momentum_at(b, number);
    const Symbol next_mu = momentum_at(b, b.add(number, 1.0));
    // 1 - M(t), without a difference of numbers near 1.
    const Symbol rest = b.add(b.mul(state.number("momentum_rest"), mu), b.sub(1.0, mu));
    state.assign_number("momentum_rest", rest);
    const Symbol next_rest = b.add(b.mul(rest, next_mu), b.sub(1.0, next_mu));
    const Symbol step =
        b.add(b.mul(gradient, b.div(b.sub(1.0, mu), rest)), b.mul(m, b.div(next_mu, next_rest)));
    const Symbol correction = b.rsqrt(weight_so_far(b, state, "v_weight", p_.beta2));
    const Symbol root = b.add(b.mul(b.sqrt(v), correction), p_.epsilon);
    return b.sub(parameters, b.div(b.mul(step, learning_rate), root));
  }

  Symbol momentum_at(Builder& b, Symbol step) const {
    const Symbol power = b.exp(b.mul(step, p_.momentum_decay * std::log(0.96)));
    return b.mul(b.sub(1.0, b.mul(power, 0.5)), p_.beta1);
  }

  Params p_;
};

TPACK_REGISTER(Optimizer, NAdam, "NAdam", "Nadam");

}  // namespace

std::unique_ptr<Optimizer> nadam(const NAdamParams& params) { return make_checked<NAdam>(params); }

}  // namespace tpack
