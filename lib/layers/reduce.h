#pragma once

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {

/// Common parts of ReduceSum and similar layers: the axes, and whether they stay.
struct ReduceLayerParams {
  std::vector<int64_t> axes;
  bool keep_dims = false;

  Builder::Keep keep() const { return keep_dims ? Builder::Keep::kYes : Builder::Keep::kNo; }
};

/// `example`: an item.
inline Schema<ReduceLayerParams> reduce_schema(const char* summary, const char* example) {
  return Schema<ReduceLayerParams>(summary)
      .example(example)
      .field("axes", &ReduceLayerParams::axes,
             "axes; 0 is the batch, 1 the channels, negative ones count from the end; default: all, for one "
             "number")
      .field("keep_dims", &ReduceLayerParams::keep_dims, "keep the reduced axes, with size 1");
}

}  // namespace tpack
