#include "predict/output_activation.h"

#include "graph/pointwise.h"
#include "graph/structural.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {

Symbol before_reshapes(Symbol y) {
  while (op_cast<Reshape>(*y.node) != nullptr || op_cast<Transpose>(*y.node) != nullptr)
    y = y.node->inputs[0];
  return y;
}

OutputActivation output_activation(Symbol y) {
  y = before_reshapes(y);
  if (is_softmax(y)) return OutputActivation::kSoftmax;
  if (pointwise::is_function(y, pointwise::Fn::kSigmoid)) return OutputActivation::kSigmoid;
  return pointwise::is_function(y, pointwise::Fn::kTanh) ? OutputActivation::kTanh : OutputActivation::kOther;
}

}  // namespace tpack
