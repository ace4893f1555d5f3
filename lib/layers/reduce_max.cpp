#include "layers/reduce.h"

namespace tpack {
namespace {

/// Shapes: x [...] -> y without the axes, or with size 1 there.
class ReduceMax final : public Layer {
 public:
  using Params = ReduceLayerParams;
  static Schema<Params> schema() {
    return reduce_schema("Largest element over axes.", "ReduceMax: {axes: [2, 3]}");
  }
  explicit ReduceMax(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    return b.reduce_max(b.to_float(x), axes_of(b, p_.axes, x), p_.keep());
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ReduceMax, "ReduceMax");

}  // namespace
}  // namespace tpack
