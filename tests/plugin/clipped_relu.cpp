#include "model/layer.h"

namespace tpack {
namespace {

struct ClippedReluParams {
  double limit = 6;
};

/// Shapes: x any -> y same.
class ClippedRelu final : public Layer {
 public:
  using Params = ClippedReluParams;
  static Schema<Params> schema() {
    return Schema<Params>("y = x where 0 < x < limit, else the nearer bound.")
        .field("limit", &Params::limit, above(0), "largest value that comes out");
  }
  explicit ClippedRelu(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return b.min(b.max(x, 0.0), p_.limit); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ClippedRelu, "ClippedReLU");

}  // namespace
}  // namespace tpack
