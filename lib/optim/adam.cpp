#include "optim/adam_rule.h"

namespace tpack {
namespace {

/// m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2; p <- p - lr * m' / (sqrt(v') + epsilon),
/// where m' and v' are m and v without their bias towards their initial zeros. Source: Kingma and Ba 2014,
/// Algorithm 1 (epsilon is added to the corrected root, as PyTorch does). With amsgrad, the largest v so far
/// takes the place of v. Source: Reddi et al. 2018; the largest v is taken before the correction, as in
/// PyTorch.
class Adam final : public Optimizer {
 public:
  using Params = AdamParams;
  static Schema<Params> schema() {
    return adam_schema<Params>("Adam.").example(
        "Adam: {learning_rate: 1.0e-3, gradient: [{GlobalNormClip: 5}]}");
  }
  explicit Adam(const Params& p) : Optimizer(p), rule_(p, p.amsgrad, "optimizer Adam") {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    return b.sub(parameters, rule_.step(b, state, gradient, learning_rate));
  }

  AdamRule rule_;
};

TPACK_REGISTER(Optimizer, Adam, "Adam", "AdamOptimizer");

}  // namespace

std::unique_ptr<Optimizer> adam(const AdamParams& params) { return make_checked<Adam>(params); }

}  // namespace tpack
