#include "ops/in_top_k.h"

namespace tpack {

Schema<InTopKParams> InTopK::schema() {
  return Schema<InTopKParams>("1 where the label is among the k best scores.")
      .field("k", &InTopKParams::k, at_least(1), "number of best scores to consider");
}

std::vector<TensorSpec> InTopK::infer(std::span<const TensorSpec> in) const {
  if (in[0].shape.rank() != 2) throw ShapeError("scores must be [N, classes], not " + in[0].str());
  check_float(in[0], "the scores");
  if (in[1].dtype != DType::kInt32 || !(in[1].shape == Shape{in[0].shape[0]})) {
    throw ShapeError("labels must be int32 " + Shape{in[0].shape[0]}.str() + ", not " + in[1].str());
  }
  if (params().k > in[0].shape[1]) {
    throw ShapeError("k is " + std::to_string(params().k) + ", but there are " +
                     std::to_string(in[0].shape[1]) + " classes; use a smaller k");
  }
  return {{in[0].dtype, in[1].shape}};
}

Symbol in_top_k(Builder& b, Symbol scores, Symbol labels, int64_t k) {
  return b.emit<InTopK>({k}, {scores, labels}).out();
}

TPACK_REGISTER(Op, InTopK, "InTopK");

}  // namespace tpack
