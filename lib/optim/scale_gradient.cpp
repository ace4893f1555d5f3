#include "optim/optimizer.h"

namespace tpack {
namespace {

struct ScaleGradientParams {
  VariableFactors factors;
};

/// g <- factor * g, with a factor for each variable. Source: tensorpack gradproc.ScaleGradient.
class ScaleGradient final : public GradientProcessor {
 public:
  using Params = ScaleGradientParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Multiplies the gradients of some variables. With Adam, AdamW and RMSProp it changes little, "
               "because they divide by the size of the gradient; `learning_rate_multipliers` works with all "
               "optimizers.")
        .example("ScaleGradient: {factors: {\".*/b\": 2}}")
        .field("factors", &Params::factors,
               "factors by variable: a name with everything below it, or a regular expression for whole "
               "names; the first match counts")
        .required();
  }
  explicit ScaleGradient(Params p) : p_(std::move(p)) {}

  Symbol process(Builder& b, OptimizerState& state, Symbol gradient) const override {
    return b.mul(gradient,
                 p_.factors.of_elements(b, state.layout(), "'factors' of gradient processor ScaleGradient"));
  }

 private:
  Params p_;
};

TPACK_REGISTER(GradientProcessor, ScaleGradient, "ScaleGradient");

}  // namespace
}  // namespace tpack
