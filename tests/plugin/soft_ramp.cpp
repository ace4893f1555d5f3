// An op with one reference kernel, and a layer that emits it. The op runs on every backend.
#include <algorithm>
#include <cmath>

#include "backend/reference/kernel.h"
#include "graph/builder.h"
#include "model/layer.h"

namespace tpack {
namespace {

/// y = log(1 + exp(x)). Shapes: x any -> y same.
class SoftRampOp final : public OpOf<SoftRampOp, NoParams> {
 public:
  static constexpr const char* kType = "SoftRamp";
  static Schema<NoParams> schema() { return Schema<NoParams>("log(1 + exp(x))."); }
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override {
    check_float(in[0], "SoftRamp");
    return {in[0]};
  }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override {
    return {b.mul(dy[0], b.sigmoid(n.inputs[0]))};
  }
};

void run_soft_ramp(const Node& /*node*/, std::span<const Tensor> in, std::span<const Tensor> out,
                   const RunInfo& /*info*/) {
  reference::by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const auto x = in[0].span<T>();
    std::transform(x.begin(), x.end(), out[0].data<T>(),
                   [](T v) { return std::max(v, T{0}) + std::log1p(std::exp(-std::abs(v))); });
  });
}
const reference::Registration kSoftRamp("SoftRamp", run_soft_ramp);

/// Shapes: x any -> y same.
class SoftRamp final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("y = log(1 + exp(x))."); }
  explicit SoftRamp(Params /*params*/) {}
  Symbol build(Builder& b, Symbol x) const override { return b.emit<SoftRampOp>({}, {x}).out(); }
};
TPACK_REGISTER(Layer, SoftRamp, "SoftRamp");

}  // namespace
}  // namespace tpack
