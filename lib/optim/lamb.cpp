#include "optim/adam_rule.h"
#include "optim/per_variable.h"
#include "optim/trust_ratio.h"

namespace tpack {
namespace {

/// u = m' / (sqrt(v') + epsilon) + weight_decay * p, with m' and v' of Adam; p <- p - lr * r * u, with r =
/// |p| / |u| of the variable, and 1 where one of the norms is 0. Without adaptation, r = 1 and weight_decay =
/// 0. Source: You et al. 2020, "Large Batch Optimization for Deep Learning", Algorithm 2, with the norm
/// itself as its function of the norm.
class Lamb final : public Optimizer {
 public:
  using Params = LambParams;
  static Schema<Params> schema() {
    auto schema =
        moments_schema<Params>(
            "LAMB: Adam, where the step of each variable has a size in proportion to the variable; for "
            "batches of thousands. Recipes for BERT also clip the gradient (GlobalNormClip).")
            .example("LAMB: {learning_rate: 1.0e-3, weight_decay: 0.01, gradient: [{GlobalNormClip: 1}]}");
    return with_trust_fields(std::move(schema));
  }
  explicit Lamb(const Params& p) : Optimizer(p), rule_(p, false, "optimizer LAMB"), ratio_(p) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const FlatLayout& layout = state.layout();
    ratio_.check(layout);
    const Symbol adam = rule_.step(b, state, gradient, 1.0);
    const Symbol step = ratio_.with_decay(b, layout, parameters, adam);
    const Symbol ratio = ratio_.of_variables(b, layout, norms_of_variables(b, layout, parameters),
                                             norms_of_variables(b, layout, step), 1);
    return b.sub(parameters, b.mul(step, b.mul(at_elements(b, layout, ratio), learning_rate)));
  }

  AdamRule rule_;
  TrustRatio ratio_;
};

TPACK_REGISTER(Optimizer, Lamb, "LAMB");

}  // namespace

std::unique_ptr<Optimizer> lamb(const LambParams& params) { return make_checked<Lamb>(params); }

}  // namespace tpack
