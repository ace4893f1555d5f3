#pragma once

#include "model/layer.h"
#include "nn/pooling.h"

namespace tpack {

/// Common parts of MaxPooling and AvgPooling.
inline Schema<nn::PoolingOptions> pooling_schema(const char* summary, const char* example) {
  using Params = nn::PoolingOptions;
  return Schema<Params>(summary)
      .example(example)
      .field("window", &Params::window, at_least(1), "size of the window, pixels")
      .shorthand()
      .field("stride", &Params::stride, at_least(1), "pixels between windows; default: the window's size")
      .field("padding", &Params::padding,
             padding_doc("'valid': only whole windows; 'same': output size is input / stride, rounded up; "
                         "padding never counts")
                 .c_str());
}

}  // namespace tpack
