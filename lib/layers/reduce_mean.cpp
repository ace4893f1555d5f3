#include "layers/reduce.h"

namespace tpack {
namespace {

/// Shapes: x [...] -> y without the axes, or with size 1 there.
class ReduceMean final : public Layer {
 public:
  using Params = ReduceLayerParams;
  static Schema<Params> schema() { return reduce_schema("Mean over axes.", "ReduceMean: {axes: [-1]}"); }
  explicit ReduceMean(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    return b.reduce_mean(b.to_float(x), axes_of(b, p_.axes, x), p_.keep());
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, ReduceMean, "ReduceMean");

}  // namespace
}  // namespace tpack
