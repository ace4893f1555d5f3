#include "layers/pooling_schema.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
/// Source: tensorpack models/pool.py, whose padding is 'valid' by default.
class AvgPooling final : public Layer {
 public:
  using Params = nn::PoolingOptions;
  static Schema<Params> schema() {
    return pooling_schema("Mean of each window; padding does not count (PyTorch's count_include_pad=False).",
                          "AvgPooling: {window: 3, stride: 2, padding: same}");
  }
  explicit AvgPooling(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::avg_pooling(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, AvgPooling, "AvgPooling");

}  // namespace
}  // namespace tpack
