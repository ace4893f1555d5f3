#include "nn/pooling.h"

#include "model/layer.h"

namespace tpack {
namespace {

struct PoolingRow {
  const char* summary;
  const char* example;
  Symbol (*of)(Builder& b, Symbol x, const nn::PoolingOptions& options);
};

template <const PoolingRow& kRow>
class Pooling final : public Layer {
 public:
  using Params = nn::PoolingOptions;
  static Schema<Params> schema() {
    return Schema<Params>(kRow.summary)
        .example(kRow.example)
        .field("window", &Params::window, at_least(1), "size of the window, pixels")
        .shorthand()
        .field("stride", &Params::stride, at_least(1), "pixels between windows; default: the window's size")
        .field("padding", &Params::padding,
               padding_doc("'valid': only whole windows; 'same': output size is input / stride, rounded up; "
                           "padding never counts")
                   .c_str());
  }
  explicit Pooling(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return kRow.of(b, x, p_); }

 private:
  Params p_;
};

constexpr PoolingRow kAvgPooling{
    "Mean of each window; padding does not count (PyTorch's count_include_pad=False).",
    "AvgPooling: {window: 3, stride: 2, padding: same}", nn::avg_pooling};
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
/// Source: tensorpack models/pool.py, whose padding is 'valid' by default.
using AvgPooling = Pooling<kAvgPooling>;
TPACK_REGISTER(Layer, AvgPooling, "AvgPooling");

constexpr PoolingRow kMaxPooling{"Largest element of each window.",
                                 "MaxPooling: {window: 3, stride: 2, padding: same}", nn::max_pooling};
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
/// Source: tensorpack models/pool.py, whose padding is 'valid' by default.
using MaxPooling = Pooling<kMaxPooling>;
TPACK_REGISTER(Layer, MaxPooling, "MaxPooling");

}  // namespace
}  // namespace tpack
