#include "model/layer.h"
#include "nn/pooling.h"

namespace tpack {
namespace {

struct GlobalPoolingRow {
  const char* summary;
  Symbol (*of)(Builder& b, Symbol x);
};

template <const GlobalPoolingRow& kRow>
class GlobalPooling final : public Layer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>(kRow.summary); }
  explicit GlobalPooling(Params /*p*/) {}

  Symbol build(Builder& b, Symbol x) const override { return kRow.of(b, x); }
};

constexpr GlobalPoolingRow kGlobalAvgPooling{"Mean over height and width.", nn::global_avg_pooling};
/// Shapes: x [N, C, H, W] -> y [N, C].
using GlobalAvgPooling = GlobalPooling<kGlobalAvgPooling>;
TPACK_REGISTER(Layer, GlobalAvgPooling, "GlobalAvgPooling");

constexpr GlobalPoolingRow kGlobalMaxPooling{"Largest element over height and width.",
                                             nn::global_max_pooling};
/// Shapes: x [N, C, H, W] -> y [N, C].
using GlobalMaxPooling = GlobalPooling<kGlobalMaxPooling>;
TPACK_REGISTER(Layer, GlobalMaxPooling, "GlobalMaxPooling");

}  // namespace
}  // namespace tpack
