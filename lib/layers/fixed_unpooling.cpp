#include "model/layer.h"
#include "nn/enlarge.h"

namespace tpack {
namespace {

struct FixedUnPoolingParams {
  Size2 window = {2, 2};
};

/// Shapes: x [N, C, H, W] -> y [N, C, H * window, W * window]. Source: tensorpack models/pool.py,
/// FixedUnPooling with its default matrix.
class FixedUnPooling final : public Layer {
 public:
  using Params = FixedUnPoolingParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Makes images larger with zeros: each pixel becomes a rectangle with the pixel at its top "
               "left.")
        .example("FixedUnPooling: 2")
        .field("window", &Params::window, at_least(1), "size of the rectangle, pixels")
        .shorthand();
  }
  explicit FixedUnPooling(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::fixed_unpooling(b, x, p_.window); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, FixedUnPooling, "FixedUnPooling");

}  // namespace
}  // namespace tpack
