#include "optim/optimizer.h"

namespace tpack {
namespace {

struct GlobalNormClipParams {
  double norm = 1;
};

/// g <- g * norm / max(norm, |g|), with the Euclidean norm over the gradients of all variables.
/// Source: Pascanu et al. 2012; tensorpack gradproc.GlobalNormClip.
class GlobalNormClip final : public GradientProcessor {
 public:
  using Params = GlobalNormClipParams;
  static Schema<Params> schema() {
    return Schema<Params>("Scales the whole gradient down if its norm is too large.")
        .example("GlobalNormClip: 5")
        .field("norm", &Params::norm, above(0), "largest norm that is not scaled down")
        .required()
        .shorthand();
  }
  explicit GlobalNormClip(Params p) : p_(p) {}

  Symbol process(Builder& b, OptimizerState& /*state*/, Symbol gradient) const override {
    const Symbol norm = b.sqrt(b.reduce_sum(b.square(gradient)));
    return b.mul(gradient, b.div(p_.norm, b.max(norm, p_.norm)));
  }

 private:
  Params p_;
};

TPACK_REGISTER(GradientProcessor, GlobalNormClip, "GlobalNormClip");

}  // namespace
}  // namespace tpack
