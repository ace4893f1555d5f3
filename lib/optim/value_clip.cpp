#include "optim/optimizer.h"

namespace tpack {
namespace {

struct ValueClipParams {
  double value = 1;
};

/// g <- min(max(g, -value), value), element by element. Source: PyTorch's clip_grad_value_, Keras's
/// clipvalue.
class ValueClip final : public GradientProcessor {
 public:
  using Params = ValueClipParams;
  static Schema<Params> schema() {
    return Schema<Params>("Limits each element of the gradient.")
        .example("ValueClip: 0.5")
        .field("value", &Params::value, above(0), "largest absolute value; larger elements are clipped")
        .required()
        .shorthand();
  }
  explicit ValueClip(Params p) : p_(p) {}

  Symbol process(Builder& b, OptimizerState& /*state*/, Symbol gradient) const override {
    return b.min(b.max(gradient, -p_.value), p_.value);
  }

 private:
  Params p_;
};

TPACK_REGISTER(GradientProcessor, ValueClip, "ValueClip");

}  // namespace
}  // namespace tpack
