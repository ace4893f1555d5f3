#include "layers/layer.h"

namespace tpack {
namespace {

struct EluParams {
  double alpha = 1;
};

/// Shapes: x any -> y same. Source: Clevert et al. 2016, "Fast and Accurate Deep Network Learning by
/// Exponential Linear Units".
class Elu final : public Layer {
 public:
  using Params = EluParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x where x > 0, alpha * (exp(x) - 1) elsewhere.")
        .example("ELU: {alpha: 0.5}")
        .field("alpha", &Params::alpha, at_least(0), "minus the limit for large negative inputs")
        .shorthand();
  }
  explicit Elu(Params p) : p_(p) {}

  /// The other branch is kept finite where it is not used; at 0 it has the gradient alpha.
  Symbol build(Builder& b, Symbol x) const override {
    return b.select(b.greater(x, 0.0), x, b.mul(b.expm1(b.min(x, 1.0)), p_.alpha));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Elu, "ELU");

}  // namespace
}  // namespace tpack
