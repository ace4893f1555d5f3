#include "optim/adam_rule.h"
#include "optim/moving_mean.h"

namespace tpack {
namespace {

/// m', v of Adam; r = 2 C / W - 1 is the number of steps that v averages over, with the weights W of the
/// steps in v and C of their ages. If r > 5: p <- p - lr * rect * m' sqrt(W) / (sqrt(v) + epsilon), with
/// rect^2 = (r
/// - 4)(r - 2) R / ((R - 4)(R - 2) r), where R is r after many steps; else p <- p - lr * m'. Source: Liu et
/// al. 2019, "On the Variance of the Adaptive Learning Rate and Beyond"; PyTorch for the 5 and the epsilon.
/// (C and W are sums; the paper's form of r is a difference that loses digits.)
class RAdam final : public Optimizer {
 public:
  using Params = RAdamParams;
  static Schema<Params> schema() {
    return moments_schema<Params>(
               "Rectified Adam: the first steps are those of momentum, and become those of Adam as its mean "
               "of "
               "squares becomes reliable; no warm-up is needed.")
        .example("RAdam: {learning_rate: 1.0e-3}");
  }
  explicit RAdam(const Params& p) : Optimizer(p), beta1_(p.beta1), beta2_(p.beta2), epsilon_(p.epsilon) {
    check_betas(beta1_, beta2_, "optimizer RAdam");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const Symbol m = moving_mean(b, state, "m", gradient, beta1_);
    const Symbol v = moving_mean(b, state, "v", b.square(gradient), beta2_);
    const Symbol rate = b.div(learning_rate, weight_so_far(b, state, "m_weight", beta1_));
    const Symbol weight = weight_so_far(b, state, "v_weight", beta2_);
    const Symbol ages = b.add(b.mul(state.number("v_ages"), beta2_), weight);
    state.assign_number("v_ages", ages);
    const Symbol length = b.sub(b.div(b.mul(ages, 2.0), weight), 1.0);
    const Symbol is_reliable = b.greater(length, kReliableLength);
    const Symbol factor = b.mul(rectification(b, length), b.sqrt(weight));
    const Symbol root = b.add(b.sqrt(v), epsilon_);
    const Symbol direction = b.select(is_reliable, b.div(b.mul(m, factor), root), m);
    return b.sub(parameters, b.mul(direction, rate));
  }

  /// A number where `length` is above 4, which is the case where it is used.
  Symbol rectification(Builder& b, Symbol length) const {
    const double last = 2 / (1 - beta2_) - 1;
    const double scale = last / ((last - 4) * (last - 2));
    const Symbol safe = b.max(length, kReliableLength);
    const Symbol product = b.mul(b.sub(safe, 4.0), b.sub(safe, 2.0));
    return b.sqrt(b.mul(b.div(product, safe), scale));
  }

  static constexpr double kReliableLength = 5;

  double beta1_;
  double beta2_;
  double epsilon_;
};

TPACK_REGISTER(Optimizer, RAdam, "RAdam");

}  // namespace

std::unique_ptr<Optimizer> radam(const RAdamParams& params) { return make_checked<RAdam>(params); }

}  // namespace tpack
