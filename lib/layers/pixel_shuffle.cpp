#include "model/layer.h"
#include "nn/enlarge.h"

namespace tpack {
namespace {

struct PixelShuffleParams {
  int64_t factor = 2;
};

/// Shapes: x [N, C * factor^2, H, W] -> y [N, C, H * factor, W * factor].
class PixelShuffle final : public Layer {
 public:
  using Params = PixelShuffleParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Turns groups of factor^2 channels into squares of pixels; the usual last layer for "
               "super-resolution.")
        .example("PixelShuffle: 2")
        .field("factor", &Params::factor, at_least(1), "output pixels per input pixel, in each direction")
        .shorthand();
  }
  explicit PixelShuffle(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::pixel_shuffle(b, x, p_.factor); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, PixelShuffle, "PixelShuffle");

}  // namespace
}  // namespace tpack
