#include "model/layer.h"
#include "nn/pooling.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y [N, C].
class GlobalAvgPooling final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Mean over height and width."); }
  explicit GlobalAvgPooling(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::global_avg_pooling(b, x); }
};

TPACK_REGISTER(Layer, GlobalAvgPooling, "GlobalAvgPooling");

}  // namespace
}  // namespace tpack
