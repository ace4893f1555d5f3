#include "layers/reduce.h"

namespace tpack {
namespace {

/// max + log(sum(exp(x - max))): no overflow. Shapes: x [...] -> y without the axes, or with size 1 there.
class LogSumExp final : public Layer {
 public:
  using Params = ReduceLayerParams;
  static Schema<Params> schema() {
    return reduce_schema("Logarithm of the sum of exponentials over axes.", "LogSumExp: {axes: [1]}");
  }
  explicit LogSumExp(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    const std::vector<int> axes = axes_of(b, p_.axes, x);
    const Symbol floats = b.to_float(x);
    const Symbol largest = b.stop_gradient(b.reduce_max(floats, axes, Builder::Keep::kYes));
    const Symbol sum = b.reduce_sum(b.exp(b.sub(floats, largest)), axes, Builder::Keep::kYes);
    const Symbol y = b.add(largest, b.log(sum));
    return p_.keep_dims ? y : b.reduce_sum(y, axes);  // over axes of size 1: removes them
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, LogSumExp, "LogSumExp");

}  // namespace
}  // namespace tpack
