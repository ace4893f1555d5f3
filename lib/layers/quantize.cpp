#include "nn/quantize.h"

#include "model/layer.h"

namespace tpack {
namespace {

struct QuantizeParams {
  int64_t bits = 2;
};

struct QuantizeRow {
  const char* summary;
  const char* example;
  Symbol (*of)(Builder& b, Symbol x, int64_t bits);
};

template <const QuantizeRow& kRow>
class QuantizeLayer final : public Layer {
 public:
  using Params = QuantizeParams;
  static Schema<Params> schema() {
    return Schema<Params>(kRow.summary)
        .example(kRow.example)
        .field("bits", &Params::bits, between(1, static_cast<double>(nn::kMostBits)),
               "bits of a number; for more, leave the layer out")
        .shorthand();
  }
  explicit QuantizeLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return kRow.of(b, x, p_.bits); }

 private:
  Params p_;
};

constexpr QuantizeRow kQuantizeActivation{
    "Clips to 0 .. 1 and rounds to the nearest of 2^bits levels. The gradient is that of the clipping alone "
    "(straight-through estimator).",
    "QuantizeActivation: {bits: 2}", nn::quantize_activation};
/// Shapes: x any floats -> y same. Source: Zhou et al. 2016, "DoReFa-Net"; tensorpack examples/DoReFa-Net,
/// whose models clip in a function of their own.
using QuantizeActivation = QuantizeLayer<kQuantizeActivation>;
TPACK_REGISTER(Layer, QuantizeActivation, "QuantizeActivation");

constexpr QuantizeRow kQuantizeWeight{
    "Rounds weights, as the kernel_transform of a layer: with one bit to plus or minus the mean of their "
    "sizes, "
    "else to 2^bits levels from -1 to 1 (after tanh, divided by the largest). Roundings have the gradient of "
    "the identity (straight-through estimator).",
    "QuantizeWeight: {bits: 1}", nn::quantize_weight};
/// Shapes: x any floats -> y same; all elements of x have the same levels. Source: Zhou et al. 2016,
/// "DoReFa-Net"; tensorpack examples/DoReFa-Net.
using QuantizeWeight = QuantizeLayer<kQuantizeWeight>;
TPACK_REGISTER(Layer, QuantizeWeight, "QuantizeWeight");

}  // namespace
}  // namespace tpack
