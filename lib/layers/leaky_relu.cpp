#include "layers/layer.h"

namespace tpack {
namespace {

struct LeakyReluParams {
  double alpha = 0.2;
};

/// Shapes: x any -> y same. Source: Maas et al. 2013, "Rectifier Nonlinearities".
class LeakyRelu final : public Layer {
 public:
  using Params = LeakyReluParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x where x > 0, alpha * x elsewhere.")
        .example("LeakyReLU: {alpha: 0.1}")
        .field("alpha", &Params::alpha, between(0, 1), "slope for negative inputs")
        .shorthand();
  }
  explicit LeakyRelu(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return b.max(x, b.mul(x, p_.alpha)); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, LeakyRelu, "LeakyReLU");

}  // namespace
}  // namespace tpack
