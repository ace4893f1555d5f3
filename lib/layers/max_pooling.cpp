#include "layers/pooling_schema.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
/// Source: tensorpack models/pool.py, whose padding is 'valid' by default.
class MaxPooling final : public Layer {
 public:
  using Params = nn::PoolingOptions;
  static Schema<Params> schema() {
    return pooling_schema("Largest element of each window.",
                          "MaxPooling: {window: 3, stride: 2, padding: same}");
  }
  explicit MaxPooling(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::max_pooling(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, MaxPooling, "MaxPooling");

}  // namespace
}  // namespace tpack
