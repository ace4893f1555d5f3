#include "optim/optimizer.h"

namespace tpack {
namespace {

struct AdamParams : OptimizerParams {
  AdamParams() { learning_rate = 1e-3; }
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2; p <- p - lr * m' / (sqrt(v') + epsilon),
/// where m' and v' are m and v without their bias towards the zeros they began with. Source: Kingma and Ba
/// 2014, Algorithm 1 (epsilon is added to the corrected root, as PyTorch does).
class Adam final : public Optimizer {
 public:
  using Params = AdamParams;
  static Schema<Params> schema() {
    return optimizer_schema<Params>("Adam.")
        .example("Adam: {learning_rate: 1.0e-3, gradient: [{GlobalNormClip: 5}]}")
        .field("beta1", &Params::beta1, between(0, 1), "decay of the mean of gradients; below 1")
        .field("beta2", &Params::beta2, between(0, 1), "decay of the mean of squares; below 1")
        .field("epsilon", &Params::epsilon, above(0), "added to the denominator");
  }
  explicit Adam(const Params& p) : Optimizer(p), beta1_(p.beta1), beta2_(p.beta2), epsilon_(p.epsilon) {
    if (p.beta1 == 1 || p.beta2 == 1)
      throw ConfigError("optimizer Adam: 'beta1' and 'beta2' must be below 1");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol m = decayed(b, state.slot("m"), gradient, beta1_);
    const Symbol v = decayed(b, state.slot("v"), b.square(gradient), beta2_);
    state.assign_slot("m", m);
    state.assign_slot("v", v);
    const Symbol rate = b.div(learning_rate, weight(b, state, "m_weight", beta1_));
    const Symbol correction = b.rsqrt(weight(b, state, "v_weight", beta2_));
    const Symbol root = b.add(b.mul(b.sqrt(v), correction), epsilon_);
    return b.sub(parameters, b.div(b.mul(m, rate), root));
  }

  static Symbol decayed(Builder& b, Symbol old, Symbol now, double beta) {
    return b.add(b.mul(old, beta), b.mul(now, 1 - beta));
  }
  /// What the gradients so far weigh in a mean, 1 - beta^step: decayed as the mean is, because 1 less a power
  /// near 1 keeps only four good digits in single precision.
  static Symbol weight(Builder& b, OptimizerState& state, const std::string& name, double beta) {
    const Symbol now = b.add(b.mul(state.number(name), beta), 1 - beta);
    state.assign_number(name, now);
    return now;
  }

  double beta1_;
  double beta2_;
  double epsilon_;
};

TPACK_REGISTER(Optimizer, Adam, "Adam", "AdamOptimizer");

}  // namespace
}  // namespace tpack
