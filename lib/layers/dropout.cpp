#include "nn/dropout.h"

#include "model/layer.h"

namespace tpack {
namespace {

struct DropoutParams {
  double rate = 0.5;
};

/// Shapes: x any -> y same. In inference the identity. Source: Srivastava et al. 2014, "Dropout"; scaled in
/// training as in TensorFlow.
class Dropout final : public Layer {
 public:
  using Params = DropoutParams;
  static Schema<Params> schema() {
    return Schema<Params>("Sets random elements to zero in training and scales the others up.")
        .example("Dropout: {rate: 0.3}")
        .field("rate", &Params::rate, between(0, 1), "probability that an element is dropped; below 1")
        .shorthand();
  }
  explicit Dropout(Params p) : p_(p) {
    if (p.rate == 1) throw ConfigError("layer Dropout: 'rate' is 1, which drops everything; must be below 1");
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::dropout(b, x, p_.rate); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Dropout, "Dropout");

}  // namespace
}  // namespace tpack
