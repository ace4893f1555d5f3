#include "optim/per_variable.h"
#include "optim/trust_ratio.h"

namespace tpack {
namespace {

/// v <- momentum * v + lr * r * (g + weight_decay * p); p <- p - v, with r = trust * |p| / (|g| +
/// weight_decay * |p|) of the variable, and 1 where one of the two is 0. Without adaptation, r = 1 and
/// weight_decay = 0. Source: You et al. 2017, "Large Batch Training of Convolutional Networks", Algorithm 1
/// (the learning rate is inside of v).
class Lars final : public Optimizer {
 public:
  using Params = LarsParams;
  static Schema<Params> schema() {
    auto schema =
        optimizer_schema<Params>(
            "LARS: momentum, where the step of each variable has a size in proportion to the variable; for "
            "networks with convolutions in batches of thousands.")
            .example("LARS: {learning_rate: 10, weight_decay: 1.0e-4}")
            .field("momentum", &Params::momentum, between(0, 1), "share of the previous step to keep")
            .field("trust", &Params::trust, above(0),
                   "size of a step, times the learning rate, in proportion to the size of the variable");
    return with_trust_fields(std::move(schema));
  }
  explicit Lars(const Params& p)
      : Optimizer(p), momentum_(p.momentum), trust_(p.trust), ratio_(p), weight_decay_(p.weight_decay) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const FlatLayout& layout = state.layout();
    ratio_.check(layout);
    const Symbol size = norms_of_variables(b, layout, parameters);
    const Symbol step_size = b.add(norms_of_variables(b, layout, gradient), b.mul(size, weight_decay_));
    const Symbol ratio = at_elements(b, layout, ratio_.of_variables(b, layout, size, step_size, trust_));
    const Symbol direction = ratio_.with_decay(b, layout, parameters, gradient);
    const Symbol step = b.mul(direction, b.mul(ratio, learning_rate));
    const Symbol velocity = b.add(b.mul(state.slot("momentum"), momentum_), step);
    state.assign_slot("momentum", velocity);
    return b.sub(parameters, velocity);
  }

  double momentum_;
  double trust_;
  TrustRatio ratio_;
  double weight_decay_;
};

TPACK_REGISTER(Optimizer, Lars, "LARS", "LARSOptimizer");

}  // namespace

std::unique_ptr<Optimizer> lars(const LarsParams& params) { return make_checked<Lars>(params); }

}  // namespace tpack
