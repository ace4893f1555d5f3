#include "optim/decoupled_decay.h"
#include "optim/moving_mean.h"
#include "optim/optimizers.h"

namespace tpack {
namespace {

/// p <- p - lr * weight_decay * p - lr * sign(beta1 m + (1 - beta1) g); then m <- beta2 m + (1 - beta2) g.
/// Source: Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", Algorithm 2.
class Lion final : public Optimizer {
 public:
  using Params = LionParams;
  static Schema<Params> schema() {
    auto schema =
        optimizer_schema<Params>(
            "Lion: each parameter moves by the learning rate, in the direction of a mean of gradients; it "
            "has "
            "one slot. Its learning rate is usually 3 to 10 times smaller than that of AdamW, and its weight "
            "decay larger by the same factor.")
            .example("Lion: {learning_rate: 1.0e-4, weight_decay: 0.1}")
            .field("beta1", &Params::beta1, between(0, 1), "share of the mean in the direction")
            .field("beta2", &Params::beta2, between(0, 1), "decay of the mean of gradients; below 1");
    return with_decay_fields(std::move(schema), "weight_decay", &Params::weight_decay);
  }
  explicit Lion(const Params& p)
      : Optimizer(p), beta1_(p.beta1), beta2_(p.beta2), decay_(p.weight_decay, p.exclude) {
    if (beta2_ == 1) throw ConfigError("optimizer Lion: 'beta2' must be below 1");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol direction = sign_of(b, moved_mean(b, state.slot("m"), gradient, beta1_));
    moving_mean(b, state, "m", gradient, beta2_);
    const Symbol step = b.mul(direction, learning_rate);
    return b.sub(parameters, decay_.added_to(b, state.layout(), parameters, learning_rate, step));
  }

  /// As b.sign, of instructions that a sweep has as machine code; what is neither above nor below 0 is 0 or
  /// NaN.
  static Symbol sign_of(Builder& b, Symbol x) {
    return b.select(b.greater(x, 0.0), 1.0, b.select(b.greater(0.0, x), -1.0, x));
  }

  double beta1_;
  double beta2_;
  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, Lion, "Lion");

}  // namespace

std::unique_ptr<Optimizer> lion(const LionParams& params) { return make_checked<Lion>(params); }

}  // namespace tpack
