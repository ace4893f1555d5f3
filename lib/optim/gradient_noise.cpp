#include <cmath>

#include "graph/variable_pattern.h"
#include "ops/random_normal.h"
#include "optim/per_variable.h"

namespace tpack {
namespace {

struct GradientNoiseParams {
  double variance = 0.01;
  double decay = 0.55;
  std::vector<Ref<VariablePattern>> variables;
};

/// g <- g + N(0, variance / (1 + t)^decay), with t updates before this one. The draws depend on the run's
/// seed and the step; those of all replicas are equal. Source: Neelakantan et al. 2015, "Adding Gradient
/// Noise Improves Learning for Very Deep Networks", where variance is 0.01, 0.3 or 1.
class GradientNoise final : public GradientProcessor {
 public:
  using Params = GradientNoiseParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Adds normal noise to the gradient, less with each update. After a processor that clips, the "
               "noise is not clipped.")
        .example("GradientNoise: 0.01")
        .field("variance", &Params::variance, above(0), "variance of the noise in the first update")
        .shorthand()
        .field("decay", &Params::decay, at_least(0),
               "power of the number of updates that divides the variance; 0: it stays the same")
        .field("variables", &Params::variables,
               "variables whose gradients get noise: names with everything below them, or regular "
               "expressions for whole names; default: all");
  }
  explicit GradientNoise(Params p) : p_(std::move(p)) {}

  Symbol process(Builder& b, OptimizerState& state, Symbol gradient) const override {
    const FlatLayout& layout = state.layout();
    check_patterns_of(layout, p_.variables, "'variables' of gradient processor GradientNoise");
    const Symbol deviations = constants_of_elements(b, layout, [this](const FlatLayout::Entry& variable) {
      const bool chosen = p_.variables.empty() || is_for_variable(p_.variables, variable.name);
      return chosen ? std::sqrt(p_.variance) : 0;
    });
    const Symbol noise = b.emit<RandomNormal>({gradient.shape(), b.float_type()}, {}).out();
    const Symbol share = b.pow(b.add(state.updates(), 1.0), -p_.decay / 2);
    return b.add(gradient, b.mul(b.mul(noise, deviations), share));
  }

 private:
  Params p_;
};

TPACK_REGISTER(GradientProcessor, GradientNoise, "GradientNoise");

}  // namespace
}  // namespace tpack
