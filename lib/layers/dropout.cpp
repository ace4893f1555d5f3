#include "nn/dropout.h"

#include <string>

#include "model/layer.h"

namespace tpack {
namespace {

struct DropoutParams {
  double rate = 0.5;
};

struct DropoutRow {
  const char* name;
  const char* summary;
  const char* example;
  const char* rate;  // what it is the probability of
  Symbol (*of)(Builder& b, Symbol x, double rate);
};

template <const DropoutRow& kRow>
class DropoutLayer final : public Layer {
 public:
  using Params = DropoutParams;
  static Schema<Params> schema() {
    return Schema<Params>(kRow.summary)
        .example(kRow.example)
        .field("rate", &Params::rate, between(0, 1), kRow.rate)
        .shorthand();
  }
  explicit DropoutLayer(Params p) : p_(p) {
    if (p.rate == 1)
      throw ConfigError(std::string("layer ") + kRow.name +
                        ": 'rate' is 1, which drops everything; must be below 1");
  }

  Symbol build(Builder& b, Symbol x) const override { return kRow.of(b, x, p_.rate); }

 private:
  Params p_;
};

constexpr DropoutRow kDropout{"Dropout", "Sets random elements to zero in training and scales the others up.",
                              "Dropout: {rate: 0.3}", "probability that an element is dropped; below 1",
                              nn::dropout};
/// Shapes: x any -> y same. In inference the identity. Source: Srivastava et al. 2014, "Dropout"; scaled in
/// training as in TensorFlow.
using Dropout = DropoutLayer<kDropout>;
TPACK_REGISTER(Layer, Dropout, "Dropout");

constexpr DropoutRow kSpatialDropout{
    "SpatialDropout",
    "Sets random channels of samples to zero in training and scales the others up. Neighboring pixels are "
    "alike, so dropping single ones removes little.",
    "SpatialDropout: {rate: 0.2}", "probability that a channel is dropped; below 1", nn::spatial_dropout};
/// Shapes: x [N, C, ...] -> y same. In inference the identity. Source: Tompson et al. 2015, "Efficient Object
/// Localization Using Convolutional Networks"; PyTorch's Dropout2d.
using SpatialDropout = DropoutLayer<kSpatialDropout>;
TPACK_REGISTER(Layer, SpatialDropout, "SpatialDropout", "Dropout2D");

constexpr DropoutRow kDropPath{"DropPath",
                               "Stochastic depth: sets random samples to zero in training and scales the "
                               "others up. As the last layer of "
                               "a Residual, it makes the block the identity for these samples.",
                               "DropPath: {rate: 0.1}", "probability that a sample is dropped; below 1",
                               nn::drop_path};
/// Shapes: x [N, ...] -> y same. In inference the identity. Source: Huang et al. 2016, "Deep Networks with
/// Stochastic Depth"; equals torchvision's StochasticDepth in mode "row".
using DropPath = DropoutLayer<kDropPath>;
TPACK_REGISTER(Layer, DropPath, "DropPath", "StochasticDepth");

}  // namespace
}  // namespace tpack
