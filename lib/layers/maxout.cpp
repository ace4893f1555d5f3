#include "model/layer.h"
#include "nn/activation.h"

namespace tpack {
namespace {

struct MaxoutParams {
  int64_t pieces = 2;
};

/// Shapes: x [N, C, ...] -> y [N, C / pieces, ...]. Errors: ShapeError if `pieces` does not divide C. Source:
/// Goodfellow et al. 2013, "Maxout Networks"; tensorpack models/nonlin.py.
class Maxout final : public Layer {
 public:
  using Params = MaxoutParams;
  static Schema<Params> schema() {
    return Schema<Params>("The largest of each group of neighboring channels.")
        .example("Maxout: {pieces: 2}")
        .field("pieces", &Params::pieces, at_least(1),
               "number of input channels per output channel; must divide the number of channels")
        .shorthand();
  }
  explicit Maxout(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::maxout(b, x, p_.pieces); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Maxout, "Maxout");

}  // namespace
}  // namespace tpack
