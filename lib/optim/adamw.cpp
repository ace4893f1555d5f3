#include "optim/adam_rule.h"

namespace tpack {
namespace {

/// p <- p - lr * weight_decay * p - lr * m' / (sqrt(v') + epsilon), with m' and v' of Adam. The decay is not
/// part of the gradient, so it is not divided by the size of the gradients. Source: Loshchilov and Hutter
/// 2017; the learning rate scales the decay, as in PyTorch.
class AdamW final : public Optimizer {
 public:
  using Params = AdamWParams;
  static Schema<Params> schema() {
    return adam_schema<Params>("Adam with decoupled weight decay.")
        .example("AdamW: {learning_rate: 1.0e-3, weight_decay: 0.05}")
        .field("weight_decay", &Params::weight_decay, at_least(0),
               "share of each parameter that each step subtracts, times the learning rate")
        .field("exclude", &Params::exclude,
               "variables that do not decay: names with everything below them, or regular expressions for "
               "whole names; [.*/b, .*/gamma, .*/beta] excludes biases and normalization parameters, as "
               "usual recipes do; default: all decay, as in PyTorch");
  }
  explicit AdamW(const Params& p) : Optimizer(p), rule_(p, "optimizer AdamW"), weight_decay_(p.weight_decay) {
    for (const Ref<VariablePattern>& pattern : p.exclude) decays_.entries.push_back({pattern, 0});
  }

 private:
  /// Not p * (1 - lr * weight_decay): a float near 1 keeps few digits of a small decay.
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    Symbol decay = b.mul(parameters, b.mul(learning_rate, weight_decay_));
    if (!decays_.empty()) decay = b.mul(decay, decays_.of_elements(b, state.layout(), "'exclude'"));
    return b.sub(parameters, b.add(decay, rule_.step(b, state, gradient, learning_rate)));
  }

  AdamRule rule_;
  double weight_decay_;
  VariableFactors decays_;  // 0 for variables without decay
};

TPACK_REGISTER(Optimizer, AdamW, "AdamW");

}  // namespace

std::unique_ptr<Optimizer> adamw(const AdamWParams& params) { return make_checked<AdamW>(params); }

}  // namespace tpack
