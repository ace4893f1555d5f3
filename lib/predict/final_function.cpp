#include "predict/final_function.h"

#include "graph/pointwise.h"
#include "graph/structural.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {

Symbol before_reshapes(Symbol y) {
  while (op_cast<Reshape>(*y.node) != nullptr || op_cast<Transpose>(*y.node) != nullptr)
    y = y.node->inputs[0];
  return y;
}

FinalFunction final_function(Symbol y) {
  y = before_reshapes(y);
  if (is_softmax(y)) return FinalFunction::kSoftmax;
  if (pointwise::is_function(y, pointwise::Fn::kSigmoid)) return FinalFunction::kSigmoid;
  return pointwise::is_function(y, pointwise::Fn::kTanh) ? FinalFunction::kTanh : FinalFunction::kOther;
}

}  // namespace tpack
