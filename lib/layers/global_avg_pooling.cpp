#include "layers/layer.h"
#include "layers/layer_shapes.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y [N, C].
class GlobalAvgPooling final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Mean over height and width."); }
  explicit GlobalAvgPooling(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override {
    check_image(b, x);
    return b.reduce_mean(x, {2, 3});
  }
};

TPACK_REGISTER(Layer, GlobalAvgPooling, "GlobalAvgPooling");

}  // namespace
}  // namespace tpack
