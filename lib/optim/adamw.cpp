#include "optim/adam_rule.h"
#include "optim/decoupled_decay.h"

namespace tpack {
namespace {

/// p <- p - lr * weight_decay * p - lr * m' / (sqrt(v') + epsilon), with m' and v' of Adam. The decay is not
/// part of the gradient, so it is not divided by the size of the gradients. Source: Loshchilov and Hutter
/// 2017; the learning rate scales the decay, as in PyTorch.
class AdamW final : public Optimizer {
 public:
  using Params = AdamWParams;
  static Schema<Params> schema() {
    auto schema = adam_schema<Params>("Adam with decoupled weight decay.")
                      .example("AdamW: {learning_rate: 1.0e-3, weight_decay: 0.05}");
    return with_decay_fields(std::move(schema), "weight_decay", &Params::weight_decay);
  }
  explicit AdamW(const Params& p)
      : Optimizer(p), rule_(p, p.amsgrad, "optimizer AdamW"), decay_(p.weight_decay, p.exclude) {}

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol step = rule_.step(b, state, gradient, learning_rate);
    return b.sub(parameters, decay_.added_to(b, state.layout(), parameters, learning_rate, step));
  }

  AdamRule rule_;
  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, AdamW, "AdamW");

}  // namespace

std::unique_ptr<Optimizer> adamw(const AdamWParams& params) { return make_checked<AdamW>(params); }

}  // namespace tpack
