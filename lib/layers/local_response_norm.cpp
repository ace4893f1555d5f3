#include "model/layer.h"
#include "nn/norms.h"

namespace tpack {
namespace {

/// x / (k + alpha * mean of the squares over `size` neighboring channels)^beta. Shapes: x [N, C, H, W] -> y
/// same. Source: Krizhevsky et al. 2012, "ImageNet Classification with Deep Convolutional Neural Networks";
/// equals PyTorch's LocalResponseNorm.
class LocalResponseNorm final : public Layer {
 public:
  using Params = nn::LocalResponseNormOptions;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Local response normalization: divides each value by (k + alpha * m)^beta, where m is the "
               "mean "
               "of the squares of the values at the same pixel in neighboring channels; channels beyond the "
               "ends count as zeros. Defaults and meaning are PyTorch's. AlexNet's paper multiplies the sum "
               "by alpha: it is {size: 5, alpha: 5.0e-4, beta: 0.75, k: 2}; TensorFlow's defaults are {size: "
               "11, alpha: 11, beta: 0.5, k: 1}.")
        .example("LRN: {size: 5, alpha: 5.0e-4, k: 2}")
        .field("size", &Params::size, at_least(1), "number of channels of a mean, with the channel itself")
        .field("alpha", &Params::alpha, above(0), "factor of the mean of the squares")
        .field("beta", &Params::beta, above(0), "exponent")
        .field("k", &Params::k, above(0), "added to the mean");
  }
  explicit LocalResponseNorm(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::local_response_norm(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, LocalResponseNorm, "LRN", "LocalResponseNorm");

}  // namespace
}  // namespace tpack
