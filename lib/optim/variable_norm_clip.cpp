#include "graph/variable_pattern.h"
#include "optim/per_variable.h"

namespace tpack {
namespace {

struct VariableNormClipParams {
  double norm = 1;
  std::vector<Ref<VariablePattern>> variables;
};

/// g <- g * norm / max(norm, |g|) for each variable, with the Euclidean norm of its own gradient. Source:
/// TensorFlow's clip_by_norm, as Keras's clipnorm applies it.
class VariableNormClip final : public GradientProcessor {
 public:
  using Params = VariableNormClipParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Scales the gradient of each variable down if its norm is too large. It changes the direction "
               "of the whole gradient; GlobalNormClip keeps it.")
        .example("VariableNormClip: 1")
        .field("norm", &Params::norm, above(0), "largest norm that is not scaled down")
        .required()
        .shorthand()
        .field("variables", &Params::variables,
               "variables whose gradients are clipped: names with everything below them, or regular "
               "expressions for whole names; default: all");
  }
  explicit VariableNormClip(Params p) : p_(std::move(p)) {}

  Symbol process(Builder& b, OptimizerState& state, Symbol gradient) const override {
    const FlatLayout& layout = state.layout();
    check_patterns_of(layout, p_.variables, "'variables' of gradient processor VariableNormClip");
    const Symbol norms = norms_of_variables(b, layout, gradient);
    Symbol factors = b.div(p_.norm, b.max(norms, p_.norm));
    if (!p_.variables.empty()) {
      const Symbol chosen = constants_of_variables(b, layout, [this](const FlatLayout::Entry& variable) {
        return is_for_variable(p_.variables, variable.name) ? 1 : 0;
      });
      factors = b.select(b.greater(chosen, 0.0), factors, 1.0);
    }
    return b.mul(gradient, at_elements(b, layout, factors));
  }

 private:
  Params p_;
};

TPACK_REGISTER(GradientProcessor, VariableNormClip, "VariableNormClip");

}  // namespace
}  // namespace tpack
