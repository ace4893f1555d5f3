#include "optim/adam_rule.h"
#include "optim/moving_mean.h"

namespace tpack {
namespace {

/// m <- beta1 m + (1 - beta1) g; u <- max(beta2 u, |g| + epsilon); p <- p - lr * m' / u, where m' is m
/// without its bias towards its initial zeros. Source: Kingma and Ba 2014, Algorithm 2, with the epsilon of
/// PyTorch. The slot has u - epsilon, which is zero in padding.
class Adamax final : public Optimizer {
 public:
  using Params = AdamaxParams;
  static Schema<Params> schema() {
    return moments_schema<Params>(
               "Adamax: Adam with the largest recent gradient instead of the root of a mean of squares.")
        .example("Adamax: {learning_rate: 2.0e-3}");
  }
  explicit Adamax(const Params& p) : Optimizer(p), beta1_(p.beta1), beta2_(p.beta2), epsilon_(p.epsilon) {
    check_betas(beta1_, beta2_, "optimizer Adamax");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol m = moving_mean(b, state, "m", gradient, beta1_);
    const Symbol before = b.mul(state.slot("largest"), beta2_);
    const Symbol largest = b.max(b.add(before, epsilon_ * (beta2_ - 1)), b.abs(gradient));
    state.assign_slot("largest", largest);
    const Symbol rate = b.div(learning_rate, weight_so_far(b, state, "m_weight", beta1_));
    return b.sub(parameters, b.div(b.mul(m, rate), b.add(largest, epsilon_)));
  }

  double beta1_;
  double beta2_;
  double epsilon_;
};

TPACK_REGISTER(Optimizer, Adamax, "Adamax");

}  // namespace

std::unique_ptr<Optimizer> adamax(const AdamaxParams& params) { return make_checked<Adamax>(params); }

}  // namespace tpack
